"""How much is flown: one row a day, for a chart."""

from __future__ import annotations

from typing import Any

from pgplane.surface import Envelope
from psycopg import AsyncConnection

from flights.models import CarrierPeriod
from flights.rows import Row, fetch
from flights.scope import chosen, origin_in_scope
from flights.surface import surface


@surface.operation("daily_traffic", ttl_seconds=60, gates=[origin_in_scope])
async def daily_traffic(
    params: CarrierPeriod, envelope: Envelope, client: AsyncConnection[Any]
) -> dict[str, list[Row]]:
    """Flights, cancellations and mean departure delay (minutes) of each day that had flights."""
    rows = await fetch(
        client,
        """
        select
            f.date,
            count(*) as flights,
            count(*) filter (where f.dep_time is null) as cancelled,
            round(avg(f.dep_delay), 1)::float8 as mean_delay
        from nyc.flights as f
        where f.origin = any(%(origins)s)
            and f.date between %(first)s and %(last)s
            and (%(carrier)s::text is null or f.carrier = %(carrier)s)
        group by f.date
        order by f.date
        """,
        chosen(params, envelope),
    )
    return {"rows": rows}
