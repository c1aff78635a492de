"""The questions that the demo asks, and what each of them must come back with.

Every answer is compared with a statement written out here and run straight on the client database,
by somebody who sees all of it: the plane must neither lose nor add nor leak a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, LiteralString

from flights.demo.asking import Params
from flights.demo.identity import People, Person

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Expected:
    """The rows of this statement, in its order.

    Attributes:
        sql: run on the client database.
        shown: the answer in a few words.
        cached: whether it must have come from the worker's cache.
    """

    sql: LiteralString
    shown: Callable[[Rows], str]
    cached: bool = False


@dataclass(frozen=True)
class Refused:
    """No rows, but this status and code."""

    status: int
    code: str


@dataclass(frozen=True)
class Question:
    """One question and what must come back."""

    who: Person
    operation: str
    params: Params
    expects: Expected | Refused


DELAYS_BY_CARRIER: LiteralString = """
    select carrier, name,
           count(*) as flights,
           count(*) filter (where dep_time is null) as cancelled,
           round(avg(dep_delay), 1)::float8 as mean_delay,
           percentile_cont(0.5) within group (order by dep_delay) as median_delay,
           percentile_cont(0.9) within group (order by dep_delay) as p90_delay
      from nyc.flights join nyc.airlines using (carrier)
"""
MOST_FLIGHTS: LiteralString = " group by carrier, name order by count(*) desc, carrier"
ALL_YEAR: LiteralString = DELAYS_BY_CARRIER + MOST_FLIGHTS
AIRLINES: LiteralString = "select carrier, name from nyc.airlines order by name"


def questions(people: People) -> Iterator[Question]:
    """One after another: every operation, every person, every kind of refusal."""
    ada, ben, cleo, dana, eve = people.everybody()
    airlines = Expected(AIRLINES, lambda rows: f"{len(rows)} airlines, {rows[0]['name']} first")

    yield Question(ada, "airlines", {}, airlines)
    yield Question(
        ben,
        "airlines",
        {},
        Expected(AIRLINES, lambda rows: f"{len(rows)} airlines, from the cache", cached=True),
    )
    yield Question(
        ada,
        "airports",
        {"search": "kennedy"},
        Expected(
            """select faa, name, lat, lon, alt, tzone from nyc.airports
                where name ilike '%kennedy%' order by name, faa""",
            lambda rows: ", ".join(f"{row['faa']} {row['name']}" for row in rows),
        ),
    )
    yield Question(ada, "delays_by_carrier", {}, Expected(ALL_YEAR, _busiest))
    yield Question(
        cleo,
        "delays_by_carrier",
        {},
        Expected(DELAYS_BY_CARRIER + " where origin = 'LGA'" + MOST_FLIGHTS, _busiest),
    )
    yield Question(dana, "delays_by_carrier", {}, Expected(ALL_YEAR, _busiest))
    yield Question(eve, "delays_by_carrier", {}, Expected(ALL_YEAR, _busiest))
    yield Question(
        ben,
        "delays_by_hour",
        {"origin": "JFK", "from": "2013-06-01", "to": "2013-08-31"},
        Expected(
            """select f.hour,
                      count(*) as flights,
                      round(avg(dep_delay), 1)::float8 as mean_delay,
                      percentile_cont(0.9) within group (order by dep_delay) as p90_delay,
                      count(*) filter (where precip > 0) as wet_flights,
                      round(avg(dep_delay) filter (where precip > 0), 1)::float8 as wet_mean_delay,
                      round(avg(temp)::numeric, 1)::float8 as mean_temp,
                      round(avg(wind_speed) filter (where wind_speed < 200)::numeric, 1)::float8
                          as mean_wind
                 from nyc.flights f left join nyc.weather using (origin, time_hour)
                where origin = 'JFK' and f.month in (6, 7, 8)
                group by f.hour order by f.hour""",
            lambda rows: "{flights} flights at {hour} h, {mean_delay} min late".format(
                **max(rows, key=lambda row: float(row["mean_delay"] or 0))
            ),
        ),
    )
    yield Question(
        dana,
        "daily_traffic",
        {"carrier": "UA"},
        Expected(
            """select date,
                      count(*) as flights,
                      count(*) filter (where dep_time is null) as cancelled,
                      round(avg(dep_delay), 1)::float8 as mean_delay
                 from nyc.flights where carrier = 'UA' group by date order by date""",
            lambda rows: f"{len(rows)} days, {sum(row['flights'] for row in rows)} flights of UA",
        ),
    )
    yield Question(
        cleo,
        "origin_board",
        {"origin": "LGA", "date": "2013-07-04"},
        Expected(
            """select sched_dep_time, dep_time, dep_delay, carrier, flight, dest,
                      airports.name as dest_name, tailnum, dep_time is null as cancelled
                 from nyc.flights left join nyc.airports on faa = dest
                where origin = 'LGA' and month = 7 and day = 4
                order by sched_dep_time, carrier, flight""",
            lambda rows: (
                f"{len(rows)} departures, {sum(row['cancelled'] for row in rows)} cancelled"
            ),
        ),
    )
    yield Question(
        cleo,
        "origin_board",
        {"origin": "JFK", "date": "2013-07-04"},
        Refused(403, "ORIGIN_NOT_IN_SCOPE"),
    )
    drill_down = {"carrier": "UA", "flight": 1545, "date": "2013-01-01"}
    yield Question(ada, "flight", drill_down, Expected(FLIGHT_UA_1545, _drilled))
    yield Question(cleo, "flight", drill_down, Refused(404, "NO_SUCH_FLIGHT"))
    yield Question(ada, "flight", {**drill_down, "flight": 9999}, Refused(404, "NO_SUCH_FLIGHT"))
    yield Question(
        ada,
        "daily_traffic",
        {"from": "2012-12-24", "to": "2012-12-31"},
        Refused(422, "PARAMS"),
    )


FLIGHT: LiteralString = """
    select f.date, f.carrier, a.name as airline, f.flight, f.tailnum, f.origin, f.dest,
           f.sched_dep_time, f.dep_time, f.dep_delay, f.sched_arr_time, f.arr_time, f.arr_delay,
           f.air_time, f.distance, f.dep_time is null as cancelled,
           (select to_jsonb(p) - 'tailnum' from nyc.planes p where p.tailnum = f.tailnum) as plane,
           (select to_jsonb(w) - '{origin,year,month,day,hour}'::text[]
              from nyc.weather w
             where w.origin = f.origin and w.time_hour = f.time_hour) as weather
      from nyc.flights f join nyc.airlines a using (carrier)
"""
FLIGHT_UA_1545: LiteralString = (
    FLIGHT + " where carrier = 'UA' and flight = 1545 and date = '2013-01-01'"
)


def _busiest(rows: Rows) -> str:
    flights = sum(row["flights"] for row in rows)
    first = rows[0]
    most = f"{first['name']}: {first['flights']:,}, {first['mean_delay']} min late"
    return f"{flights:,} flights; {most}"


def _drilled(rows: Rows) -> str:
    (row,) = rows
    plane, weather = row["plane"], row["weather"]
    return (
        f"{row['origin']} → {row['dest']}, {row['dep_delay']} min late, "
        f"{plane['manufacturer']} {plane['model']} of {plane['year']}, {weather['temp']} °F"
    )
