"""The exports, made a second time straight from the client database: the bytes must be the same."""

from __future__ import annotations

import asyncio
import datetime as dt
from typing import LiteralString

from flights.demo.board import OVERVIEW, WORST_DAYS, WORST_FIRST
from flights.demo.checking import Checker
from flights.demo.identity import Person
from flights.demo.questions import DELAYS_BY_CARRIER, MOST_FLIGHTS
from flights.report import setting

FLIGHTS: LiteralString = """
    select date, carrier, airlines.name as airline, flight, tailnum, origin, dest,
           airports.name as dest_name, sched_dep_time, dep_time, dep_delay,
           sched_arr_time, arr_time, arr_delay, air_time, distance,
           case when dep_time is null then 'true' else 'false' end as cancelled
      from nyc.flights join nyc.airlines using (carrier) left join nyc.airports on faa = dest
     where origin = any(%(scope)s)
     order by date, sched_dep_time, carrier, flight
"""
AIRPORTS: LiteralString = "select faa, name from nyc.airports where faa = any(%(scope)s) order by 1"
DAYS: LiteralString = """
    select date, count(*) as flights, count(*) filter (where dep_time is null) as cancelled,
           round(avg(dep_delay), 1)::float8 as mean_delay
"""
JULY: LiteralString = " where origin = any(%(scope)s) and month = 7 "


async def right_csv(checker: Checker, who: Person) -> bytes:
    """All flights of the year that somebody may see, as PostgreSQL writes CSV."""
    return await checker.csv(FLIGHTS, {"scope": list(who.scope)})


async def right_report(checker: Checker, who: Person) -> bytes:
    """July's report: it is set the same way each time, so that its bytes tell all its figures."""
    scope = {"scope": list(who.scope)}
    flights = " from nyc.flights" + JULY
    (overview,) = await checker.rows(OVERVIEW + JULY, scope)
    figures = {
        "title": "Flights in July 2013",
        "made_for": who.client,
        "airports": await checker.rows(AIRPORTS, scope),
        "overview": overview,
        "days": await checker.rows(DAYS + flights + "group by date order by date", scope),
        "carriers": await checker.rows(DELAYS_BY_CARRIER + JULY + MOST_FLIGHTS, scope),
        "worst": await checker.rows(WORST_DAYS + flights + WORST_FIRST, scope),
    }
    document = await asyncio.to_thread(setting.typeset, figures, dt.date(2013, 7, 31))
    return document.pdf
