"""Single flights: the drill-down, and one airport's board. Never cached: always fresh."""

from __future__ import annotations

from typing import Any

from pgplane.errors import HttpError
from pgplane.surface import Envelope
from psycopg import AsyncConnection

from flights.models import Board, Flight
from flights.rows import Row, fetch
from flights.scope import origin_in_scope, origins
from flights.surface import surface


@surface.operation("flight", timeout_seconds=10)
async def flight(
    params: Flight, envelope: Envelope, client: AsyncConnection[Any]
) -> dict[str, list[Row]]:
    """One flight number on one day, rarely twice, with its aircraft and the weather at departure.

    `plane` and `weather` are objects, null where nothing is known. 404 where no such flight left
    an origin that the caller may see: whether others exist is not told.
    """
    rows = await fetch(
        client,
        """
        select
            f.date, f.carrier, a.name as airline, f.flight, f.tailnum, f.origin, f.dest,
            f.sched_dep_time, f.dep_time, f.dep_delay, f.sched_arr_time, f.arr_time, f.arr_delay,
            f.air_time, f.distance,
            f.dep_time is null as cancelled,
            to_jsonb(p) - 'tailnum' as plane,
            to_jsonb(w) - '{origin,year,month,day,hour}'::text[] as weather
        from nyc.flights as f
        join nyc.airlines as a on a.carrier = f.carrier
        left join nyc.planes as p on p.tailnum = f.tailnum
        left join nyc.weather as w on w.origin = f.origin and w.time_hour = f.time_hour
        where f.carrier = %(carrier)s
            and f.flight = %(flight)s
            and f.date = %(date)s
            and f.origin = any(%(origins)s)
        order by f.sched_dep_time
        """,
        {**params.model_dump(), "origins": origins(envelope)},
    )
    if not rows:
        raise HttpError(
            404, "NO_SUCH_FLIGHT", f"no flight {params.carrier} {params.flight} on {params.date}"
        )
    return {"rows": rows}


@surface.operation("origin_board", timeout_seconds=10, gates=[origin_in_scope])
async def origin_board(
    params: Board, envelope: Envelope, client: AsyncConnection[Any]
) -> dict[str, list[Row]]:
    """All departures of one origin on one day, by schedule."""
    rows = await fetch(
        client,
        """
        select
            f.sched_dep_time, f.dep_time, f.dep_delay, f.carrier, f.flight, f.dest,
            d.name as dest_name, f.tailnum, f.dep_time is null as cancelled
        from nyc.flights as f
        left join nyc.airports as d on d.faa = f.dest
        where f.origin = any(%(origins)s)
            and f.date = %(date)s
        order by f.sched_dep_time, f.carrier, f.flight
        """,
        {"origins": origins(envelope, params.origin), "date": params.date},
    )
    return {"rows": rows}
