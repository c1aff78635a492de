"""Files to take away: a period as CSV, a month as PDF.

An export is of a client and a scope, as every answer is; it is not kept, and so made anew for each
who asks, but for those who ask at the same time.
"""

from __future__ import annotations

import asyncio
import calendar
import datetime as dt
from typing import Any

from pgplane.errors import HttpError
from pgplane.surface import Envelope, Work
from psycopg import AsyncConnection

from flights.models import CarrierPeriod, Month
from flights.operations.delays import delays_by_carrier
from flights.operations.overview import overview
from flights.operations.punctuality import worst_days
from flights.operations.traffic import daily_traffic
from flights.report import setting
from flights.rows import fetch
from flights.scope import AboutOrigin, chosen, origin_in_scope, origins
from flights.surface import surface

_CSV_SECONDS = 120
_REPORT_SECONDS = 60


def something_in_scope(params: AboutOrigin, envelope: Envelope) -> None:
    """Gate: who may see none of the origins is told so, rather than given an empty file."""
    if not origins(envelope, params.origin):
        raise HttpError(403, "NOTHING_TO_EXPORT", "you may not see flights from any of the origins")


def reports_are_installed(params: Month, envelope: Envelope) -> None:
    """Gate: a worker without the extra `report` says so, rather than failing."""
    if not setting.is_installed():
        raise HttpError(
            404, "NO_REPORTS", "this worker sets no PDF: install pgplane with its extra `report`"
        )


@surface.operation(
    "flights_csv",
    timeout_seconds=_CSV_SECONDS,
    gates=[origin_in_scope, something_in_scope],
)
async def flights_csv(
    params: CarrierPeriod, envelope: Envelope, client: AsyncConnection[Any], work: Work
) -> dict[str, object]:
    """Every flight of a period as a CSV file, by day and schedule: `{"rows", "file"}`.

    A year of all origins is 336,776 rows. Times are local, as HHMM; delays and `air_time` minutes.
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
    work.progress(0, rows, f"writing {rows:,} flights")
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
    )
    work.progress(rows, rows)
    return {"rows": rows, "file": file}


@surface.operation(
    "month_report",
    timeout_seconds=_REPORT_SECONDS,
    gates=[reports_are_installed, origin_in_scope, something_in_scope],
)
async def month_report(
    params: Month, envelope: Envelope, client: AsyncConnection[Any], work: Work
) -> dict[str, object]:
    """A month on two pages, as a PDF: `{"pages", "file"}`. Its figures are the other operations'.

    Setting it takes a thread, which goes on to its end if the job is cancelled.
    """
    first = dt.date(2013, params.month, 1)
    last = first.replace(day=calendar.monthrange(first.year, first.month)[1])
    period = CarrierPeriod.model_validate({"origin": params.origin, "from": first, "to": last})
    name = f"{first:%B %Y}"
    work.progress(0, 3, f"the figures of {name}")
    figures = {
        "title": f"Flights in {name}",
        "made_for": envelope.client,
        "airports": await fetch(
            client,
            "select a.faa, a.name from nyc.airports as a"
            " where a.faa = any(%(origins)s) order by a.faa",
            chosen(period, envelope),
        ),
        "overview": (await overview(period, envelope, client))["rows"][0],
        "days": (await daily_traffic(period, envelope, client))["rows"],
        "carriers": (await delays_by_carrier(period, envelope, client))["rows"],
        "worst": (await worst_days(period, envelope, client))["rows"],
    }
    work.progress(1, 3, "setting the pages")
    document = await asyncio.to_thread(setting.typeset, figures, last)
    work.progress(2, 3, "keeping the file")
    filename = f"flights-{params.origin or 'all'}-{first:%Y-%m}.pdf"
    async with work.blob("application/pdf", filename) as blob:
        await blob.write(document.pdf)
    work.progress(3, 3)
    return {"pages": document.pages, "file": blob.ref}
