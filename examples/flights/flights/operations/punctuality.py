"""When one should fly, and when one should have stayed at home."""

from __future__ import annotations

from typing import Any

from pgplane.surface import Envelope
from psycopg import AsyncConnection

from flights.models import CarrierPeriod
from flights.rows import Row, fetch
from flights.scope import chosen, origin_in_scope
from flights.surface import surface


@surface.operation("punctuality", ttl_seconds=60, gates=[origin_in_scope])
async def punctuality(
    params: CarrierPeriod, envelope: Envelope, client: AsyncConnection[Any]
) -> dict[str, list[Row]]:
    """One row an hour of each weekday (1 Monday … 7 Sunday) in which a flight was scheduled.

    Late is who left more than 15 minutes late, or not at all.
    """
    rows = await fetch(
        client,
        """
        select
            extract(isodow from f.date)::int as weekday,
            f.hour,
            count(*) as flights,
            count(*) filter (where f.dep_delay > 15 or f.dep_time is null) as late,
            round(avg(f.dep_delay), 1)::float8 as mean_delay
        from nyc.flights as f
        where f.origin = any(%(origins)s)
            and f.date between %(first)s and %(last)s
            and (%(carrier)s::text is null or f.carrier = %(carrier)s)
        group by weekday, f.hour
        order by weekday, f.hour
        """,
        chosen(params, envelope),
    )
    return {"rows": rows}


@surface.operation("worst_days", ttl_seconds=60, gates=[origin_in_scope])
async def worst_days(
    params: CarrierPeriod, envelope: Envelope, client: AsyncConnection[Any]
) -> dict[str, list[Row]]:
    """The ten days on which the largest share left more than 15 minutes late, or not at all."""
    rows = await fetch(
        client,
        """
        select
            f.date,
            count(*) as flights,
            count(*) filter (where f.dep_time is null) as cancelled,
            round(avg(f.dep_delay), 1)::float8 as mean_delay,
            count(*) filter (where f.dep_delay > 15 or f.dep_time is null) as late
        from nyc.flights as f
        where f.origin = any(%(origins)s)
            and f.date between %(first)s and %(last)s
            and (%(carrier)s::text is null or f.carrier = %(carrier)s)
        group by f.date
        order by
            count(*) filter (where f.dep_delay > 15 or f.dep_time is null)::float8 / count(*) desc,
            f.date
        limit 10
        """,
        chosen(params, envelope),
    )
    return {"rows": rows}
