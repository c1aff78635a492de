"""What flies."""

from __future__ import annotations

from typing import Any

from pgplane.surface import Envelope
from psycopg import AsyncConnection

from flights.models import CarrierPeriod
from flights.rows import Row, fetch
from flights.scope import chosen, origin_in_scope
from flights.surface import surface


@surface.operation("aircraft", ttl_seconds=60, gates=[origin_in_scope])
async def aircraft(
    params: CarrierPeriod, envelope: Envelope, client: AsyncConnection[Any]
) -> dict[str, list[Row]]:
    """The 15 models with most flights: how many aircraft, and the seats of each.

    `mean_age` is of the aircraft, in years: 2013 less the year they were made. The aircraft of one
    flight in six is not in the registry, and so not here.
    """
    rows = await fetch(
        client,
        """
        with tails as (
            select
                f.tailnum,
                count(*) as flights,
                count(f.dep_delay) as flown,
                sum(f.dep_delay) as delay
            from nyc.flights as f
            where f.origin = any(%(origins)s)
                and f.date between %(first)s and %(last)s
                and (%(carrier)s::text is null or f.carrier = %(carrier)s)
            group by f.tailnum
        )
        select
            p.manufacturer,
            p.model,
            count(*) as aircraft,
            sum(t.flights)::bigint as flights,
            max(p.seats) as seats,
            round(avg(2013 - p.year), 1)::float8 as mean_age,
            round(sum(t.delay) / nullif(sum(t.flown), 0), 1)::float8 as mean_delay
        from tails as t
        join nyc.planes as p on p.tailnum = t.tailnum
        group by p.manufacturer, p.model
        order by sum(t.flights) desc, p.manufacturer, p.model
        limit 15
        """,
        chosen(params, envelope),
    )
    return {"rows": rows}
