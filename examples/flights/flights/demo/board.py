"""Eight panels of the page's board, and what each must come back with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import LiteralString

from flights.demo.identity import People
from flights.demo.questions import Expected, Question, Rows

LATE: LiteralString = "count(*) filter (where coalesce(dep_delay > 15, true)) as late"
CANCELLED: LiteralString = "count(*) filter (where dep_time is null) as cancelled"
MEAN: LiteralString = "round(avg(dep_delay), 1)::float8 as mean_delay"
MEDIAN: LiteralString = """
    round(percentile_cont(0.5) within group (order by dep_delay)::numeric, 1)::float8
        as median_delay"""
P90: LiteralString = """
    round(percentile_cont(0.9) within group (order by dep_delay)::numeric, 1)::float8
        as p90_delay"""

OVERVIEW: LiteralString = (
    f"select count(*) as flights, {CANCELLED}, count(*) filter (where dep_delay <= 15) as on_time,"
    f" {MEAN}, {MEDIAN}, {P90}, count(distinct dest) as destinations,"
    " count(distinct tailnum) as aircraft, sum(distance * (dep_time is not null)::int) as miles"
    " from nyc.flights"
)
WORST_DAYS: LiteralString = f"select date, count(*) as flights, {CANCELLED}, {MEAN}, {LATE}"
WORST_FIRST: LiteralString = """
    group by date
    order by avg(case when dep_delay <= 15 then 0.0 else 1.0 end) desc, date limit 10
"""
PUNCTUALITY: LiteralString = f"""
    select extract(isodow from date)::int as weekday, hour, count(*) as flights, {LATE}, {MEAN}
      from nyc.flights group by 1, 2 order by 1, 2
"""
DESTINATIONS: LiteralString = f"""
    select dest as faa, name, lat, lon, count(*) as flights, {CANCELLED}, {MEAN}
      from nyc.flights left join nyc.airports on faa = dest
     group by dest, name, lat, lon order by count(*) desc, dest
"""
CARRIER_MONTHS: LiteralString = f"""
    select month, carrier, name, count(*) as flights, {MEAN}, {LATE}
      from nyc.flights join nyc.airlines using (carrier) group by 1, 2, 3 order by 1, 2
"""
AIRCRAFT: LiteralString = f"""
    select manufacturer, model, aircraft, flights, seats, mean_age, mean_delay
      from (select manufacturer, model, seats, count(*) as flights, {MEAN}
              from nyc.flights join nyc.planes using (tailnum) group by 1, 2, 3) as flown
      join (select manufacturer, model, count(*) as aircraft,
                   round(avg(2013 - year), 1)::float8 as mean_age
              from nyc.planes where tailnum in (select tailnum from nyc.flights)
             group by 1, 2) as fleet using (manufacturer, model)
     order by flights desc, 1, 2 limit 15
"""
WEATHER_IMPACT: LiteralString = f"""
    select condition, count(*) as flights, {CANCELLED}, {MEAN}, {P90}
      from nyc.flights
      left join nyc.weather using (origin, time_hour)
     cross join lateral (
        select case when precip is null then 'unknown'
                    when precip > 0 and temp <= 32 then 'freezing'
                    when precip > 0 then 'rain'
                    when visib < 3 then 'fog'
                    when wind_speed >= 25 or wind_gust >= 35 then 'wind'
                    else 'clear' end as condition) as kind
     group by condition
     order by position(condition in 'clear wind fog rain freezing unknown')
"""
DELAY_DISTRIBUTION: LiteralString = """
    with minutes as (select dep_delay, count(*) as n from nyc.flights group by dep_delay)
    select low as from_minutes, high as to_minutes, (
               select coalesce(sum(n), 0) from minutes
                where dep_delay >= coalesce(low, -999) and dep_delay < coalesce(high, 9999)
           ) as flights
      from (select lag(edge) over (order by edge) as low, edge as high
              from (values (-15), (-10), (-5), (0), (5), (10), (15), (20), (25), (30), (35), (40),
                           (45), (50), (55), (60), (120), (240), (null)) as edges (edge)) as bins
     order by low nulls first
"""


def board(people: People) -> Iterator[Question]:
    """Each of the whole year; to be asked at the same moment, as the page does it."""

    def shown(operation: str, sql: LiteralString, words: str) -> Question:
        def first(rows: Rows) -> str:
            return words.format(len(rows), **rows[0])

        return Question(people.ada, operation, {}, Expected(sql, first))

    yield shown("overview", OVERVIEW, "{aircraft:,} aircraft, {miles:,} miles")
    yield shown("punctuality", PUNCTUALITY, "{} hours of a week")
    yield shown("destinations", DESTINATIONS, "{} destinations, {name} first")
    yield shown("carrier_months", CARRIER_MONTHS, "{} months of an airline")
    yield shown("aircraft", AIRCRAFT, "{aircraft} {manufacturer} {model} lead")
    yield shown("weather_impact", WEATHER_IMPACT, "{} kinds; {condition}: {flights:,} flights")
    yield shown("delay_distribution", DELAY_DISTRIBUTION, "{} bins")
    yield shown(
        "worst_days",
        WORST_DAYS + " from nyc.flights" + WORST_FIRST,
        "{date}: {late} of {flights} late",
    )
