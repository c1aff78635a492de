"""How late flights leave: by airline, by hour of the day, and how many by how much."""

from __future__ import annotations

from typing import Any

from pgplane.surface import Envelope
from psycopg import AsyncConnection

from flights.models import CarrierPeriod, Period
from flights.rows import Row, fetch
from flights.scope import chosen, origin_in_scope
from flights.surface import surface


@surface.operation("delays_by_carrier", gates=[origin_in_scope])
async def delays_by_carrier(
    params: Period, envelope: Envelope, client: AsyncConnection[Any]
) -> dict[str, list[Row]]:
    """One row an airline, most flights first; delays are of departures, in minutes."""
    rows = await fetch(
        client,
        """
        select
            f.carrier,
            a.name,
            count(*) as flights,
            count(*) filter (where f.dep_time is null) as cancelled,
            round(avg(f.dep_delay), 1)::float8 as mean_delay,
            percentile_cont(0.5) within group (order by f.dep_delay) as median_delay,
            percentile_cont(0.9) within group (order by f.dep_delay) as p90_delay
        from nyc.flights as f
        join nyc.airlines as a on a.carrier = f.carrier
        where f.origin = any(%(origins)s)
            and f.date between %(first)s and %(last)s
        group by f.carrier, a.name
        order by count(*) desc, f.carrier
        """,
        chosen(params, envelope),
    )
    return {"rows": rows}


@surface.operation("delays_by_hour", ttl_seconds=60, gates=[origin_in_scope])
async def delays_by_hour(
    params: CarrierPeriod, envelope: Envelope, client: AsyncConnection[Any]
) -> dict[str, list[Row]]:
    """One row an hour of scheduled departure, with the weather at that airport and hour.

    Delays in minutes, temperature in °F, wind in miles per hour; wet: precipitation was measured.
    """
    rows = await fetch(
        client,
        """
        select
            f.hour,
            count(*) as flights,
            round(avg(f.dep_delay), 1)::float8 as mean_delay,
            percentile_cont(0.9) within group (order by f.dep_delay) as p90_delay,
            count(*) filter (where w.precip > 0) as wet_flights,
            round(avg(f.dep_delay) filter (where w.precip > 0), 1)::float8 as wet_mean_delay,
            round(avg(w.temp)::numeric, 1)::float8 as mean_temp,
            round(avg(w.wind_speed) filter (where w.wind_speed < 200)::numeric, 1)::float8
                as mean_wind
        from nyc.flights as f
        left join nyc.weather as w on w.origin = f.origin and w.time_hour = f.time_hour
        where f.origin = any(%(origins)s)
            and f.date between %(first)s and %(last)s
            and (%(carrier)s::text is null or f.carrier = %(carrier)s)
        group by f.hour
        order by f.hour
        """,
        chosen(params, envelope),
    )
    return {"rows": rows}


@surface.operation("delay_distribution", ttl_seconds=60, gates=[origin_in_scope])
async def delay_distribution(
    params: CarrierPeriod, envelope: Envelope, client: AsyncConnection[Any]
) -> dict[str, list[Row]]:
    """How many left with a delay from `from_minutes` up to below `to_minutes`; null is an open end.

    All 19 bins are there, the empty ones too: they can be drawn as they come.
    """
    rows = await fetch(
        client,
        """
        with edges as (
            select array_agg(edge order by edge) as minutes
            from (
                select generate_series(-15, 60, 5) as edge
                union all values (120), (240)
            ) as all_edges
        ),
        counted as (
            select width_bucket(f.dep_delay::int, e.minutes) as bin, count(*) as flights
            from nyc.flights as f, edges as e
            where f.origin = any(%(origins)s)
                and f.date between %(first)s and %(last)s
                and (%(carrier)s::text is null or f.carrier = %(carrier)s)
                and f.dep_delay is not null
            group by bin
        )
        select
            e.minutes[b.bin] as from_minutes,
            e.minutes[b.bin + 1] as to_minutes,
            coalesce(c.flights, 0) as flights
        from edges as e
        cross join generate_series(0, cardinality(e.minutes)) as b (bin)
        left join counted as c on c.bin = b.bin
        order by b.bin
        """,
        chosen(params, envelope),
    )
    return {"rows": rows}
