"""The airlines through the year."""

from __future__ import annotations

from typing import Any

from pgplane.surface import Envelope
from psycopg import AsyncConnection

from flights.models import Period
from flights.rows import Row, fetch
from flights.scope import chosen, origin_in_scope
from flights.surface import surface


@surface.operation("carrier_months", ttl_seconds=60, gates=[origin_in_scope])
async def carrier_months(
    params: Period, envelope: Envelope, client: AsyncConnection[Any]
) -> dict[str, list[Row]]:
    """One row an airline and month (1 to 12) in which it flew; late as in `punctuality`."""
    rows = await fetch(
        client,
        """
        select
            f.month,
            f.carrier,
            a.name,
            count(*) as flights,
            round(avg(f.dep_delay), 1)::float8 as mean_delay,
            count(*) filter (where f.dep_delay > 15 or f.dep_time is null) as late
        from nyc.flights as f
        join nyc.airlines as a on a.carrier = f.carrier
        where f.origin = any(%(origins)s)
            and f.date between %(first)s and %(last)s
        group by f.month, f.carrier, a.name
        order by f.month, f.carrier
        """,
        chosen(params, envelope),
    )
    return {"rows": rows}
