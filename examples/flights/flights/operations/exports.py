"""Flights to take away: a period as a CSV file. Never cached: made for who asks for it."""

from __future__ import annotations

from typing import Any

from pgplane.surface import Envelope, Work
from psycopg import AsyncConnection

from flights.models import CarrierPeriod
from flights.rows import fetch
from flights.scope import chosen, origin_in_scope, something_in_scope
from flights.surface import surface


@surface.operation(
    "flights_csv",
    timeout_seconds=120,
    gates=[origin_in_scope, something_in_scope],
)
async def flights_csv(
    params: CarrierPeriod, envelope: Envelope, client: AsyncConnection[Any], work: Work
) -> dict[str, object]:
    """Every flight of a period, by day and schedule, as CSV: `{"rows": n, "file": {"blobRef": …}}`.

    Times are local, as HHMM; delays and `air_time` minutes, `distance` miles.
    """
    values = chosen(params, envelope)
    (counted,) = await fetch(
        client,
        """
        select count(*) as rows
        from nyc.flights as f
        where f.origin = any(%(origins)s)
            and f.date between %(first)s and %(last)s
            and (%(carrier)s::text is null or f.carrier = %(carrier)s)
        """,
        values,
    )
    rows = counted["rows"]
    file = await work.copy_csv(
        client,
        """
        select
            f.date, f.carrier, a.name as airline, f.flight, f.tailnum,
            f.origin, f.dest, d.name as dest_name,
            f.sched_dep_time, f.dep_time, f.dep_delay,
            f.sched_arr_time, f.arr_time, f.arr_delay,
            f.air_time, f.distance, (f.dep_time is null)::text as cancelled
        from nyc.flights as f
        join nyc.airlines as a on a.carrier = f.carrier
        left join nyc.airports as d on d.faa = f.dest
        where f.origin = any(%(origins)s)
            and f.date between %(first)s and %(last)s
            and (%(carrier)s::text is null or f.carrier = %(carrier)s)
        order by f.date, f.sched_dep_time, f.carrier, f.flight
        """,
        values,
        f"flights-{params.origin or 'all'}-{params.from_}-{params.to}.csv",
        total=rows,
    )
    return {"rows": rows, "file": file}
