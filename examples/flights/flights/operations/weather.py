"""What weather does to departures."""

from __future__ import annotations

from typing import Any

from pgplane.surface import Envelope
from psycopg import AsyncConnection

from flights.models import CarrierPeriod
from flights.rows import Row, fetch
from flights.scope import chosen, origin_in_scope
from flights.surface import surface


@surface.operation("weather_impact", ttl_seconds=60, gates=[origin_in_scope])
async def weather_impact(
    params: CarrierPeriod, envelope: Envelope, client: AsyncConnection[Any]
) -> dict[str, list[Row]]:
    """One row a kind of weather, as it was at the airport in the hour of scheduled departure.

    Each flight is in the first that fits: `unknown` nothing was observed; `freezing` precipitation
    at 32 °F or below, so snow, sleet or freezing rain; `rain` any other; `fog` sight below 3 miles;
    `wind` of 25 miles an hour, or gusts of 35; `clear` none of these.
    """
    rows = await fetch(
        client,
        """
        with weather as (
            select
                w.origin,
                w.time_hour,
                case
                    when w.precip > 0 and w.temp <= 32 then 'freezing'
                    when w.precip > 0 then 'rain'
                    when w.visib < 3 then 'fog'
                    when w.wind_speed >= 25 or w.wind_gust >= 35 then 'wind'
                    else 'clear'
                end as condition
            from nyc.weather as w
        )
        select
            coalesce(w.condition, 'unknown') as condition,
            count(*) as flights,
            count(*) filter (where f.dep_time is null) as cancelled,
            round(avg(f.dep_delay), 1)::float8 as mean_delay,
            round((percentile_cont(0.9) within group (order by f.dep_delay))::numeric, 1)::float8
                as p90_delay
        from nyc.flights as f
        left join weather as w on w.origin = f.origin and w.time_hour = f.time_hour
        where f.origin = any(%(origins)s)
            and f.date between %(first)s and %(last)s
            and (%(carrier)s::text is null or f.carrier = %(carrier)s)
        group by w.condition
        order by
            array_position(array['clear', 'wind', 'fog', 'rain', 'freezing'], w.condition)
        """,
        chosen(params, envelope),
    )
    return {"rows": rows}
