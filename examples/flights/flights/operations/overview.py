"""The key figures of a period."""

from __future__ import annotations

from typing import Any

from pgplane.surface import Envelope
from psycopg import AsyncConnection

from flights.models import CarrierPeriod
from flights.rows import Row, fetch
from flights.scope import chosen, origin_in_scope
from flights.surface import surface


@surface.operation("overview", ttl_seconds=60, gates=[origin_in_scope])
async def overview(
    params: CarrierPeriod, envelope: Envelope, client: AsyncConnection[Any]
) -> dict[str, list[Row]]:
    """One row, also where nothing flew: then its counts are 0 and its delays null.

    On time is who left at most 15 minutes late; miles are of flights that left.
    """
    rows = await fetch(
        client,
        """
        select
            count(*) as flights,
            count(*) filter (where f.dep_time is null) as cancelled,
            count(*) filter (where f.dep_delay <= 15) as on_time,
            round(avg(f.dep_delay), 1)::float8 as mean_delay,
            round((percentile_cont(0.5) within group (order by f.dep_delay))::numeric, 1)::float8
                as median_delay,
            round((percentile_cont(0.9) within group (order by f.dep_delay))::numeric, 1)::float8
                as p90_delay,
            count(distinct f.dest) as destinations,
            count(distinct f.tailnum) as aircraft,
            coalesce(sum(f.distance) filter (where f.dep_time is not null), 0) as miles
        from nyc.flights as f
        where f.origin = any(%(origins)s)
            and f.date between %(first)s and %(last)s
            and (%(carrier)s::text is null or f.carrier = %(carrier)s)
        """,
        chosen(params, envelope),
    )
    return {"rows": rows}
