"""Where the flights go, with the places for a map."""

from __future__ import annotations

from typing import Any

from pgplane.surface import Envelope
from psycopg import AsyncConnection

from flights.models import CarrierPeriod
from flights.rows import Row, fetch
from flights.scope import chosen, origin_in_scope
from flights.surface import surface


@surface.operation("destinations", ttl_seconds=60, gates=[origin_in_scope])
async def destinations(
    params: CarrierPeriod, envelope: Envelope, client: AsyncConnection[Any]
) -> dict[str, list[Row]]:
    """One row a destination, most flights first.

    `name`, `lat` and `lon` are null for the four in the Caribbean that nyc.airports does not have.
    """
    rows = await fetch(
        client,
        """
        select
            f.dest as faa,
            a.name,
            a.lat,
            a.lon,
            count(*) as flights,
            count(*) filter (where f.dep_time is null) as cancelled,
            round(avg(f.dep_delay), 1)::float8 as mean_delay
        from nyc.flights as f
        left join nyc.airports as a on a.faa = f.dest
        where f.origin = any(%(origins)s)
            and f.date between %(first)s and %(last)s
            and (%(carrier)s::text is null or f.carrier = %(carrier)s)
        group by f.dest, a.faa
        order by count(*) desc, f.dest
        """,
        chosen(params, envelope),
    )
    return {"rows": rows}
