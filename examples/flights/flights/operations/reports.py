"""A month on paper: what other operations answer, set as a PDF. Never cached, as no export is."""

from __future__ import annotations

import asyncio
import calendar
import datetime as dt
from typing import Any

from pgplane.errors import HttpError
from pgplane.operation import Handler
from pgplane.surface import Envelope, Work
from psycopg import AsyncConnection

from flights.models import CarrierPeriod, Month
from flights.operations.delays import delays_by_carrier
from flights.operations.overview import overview
from flights.operations.punctuality import worst_days
from flights.operations.traffic import daily_traffic
from flights.report import setting
from flights.rows import Row, fetch
from flights.scope import chosen, origin_in_scope, something_in_scope
from flights.surface import surface

_STEPS = 3


def reports_are_installed(params: Month, envelope: Envelope) -> None:
    """Gate: a worker without the extra `report` says so, rather than failing."""
    if not setting.is_installed():
        raise HttpError(
            404, "NO_REPORTS", "this worker sets no PDF: install pgplane with its extra `report`"
        )


@surface.operation(
    "month_report",
    timeout_seconds=60,
    gates=[reports_are_installed, origin_in_scope, something_in_scope],
)
async def month_report(
    params: Month, envelope: Envelope, client: AsyncConnection[Any], work: Work
) -> dict[str, object]:
    """One month as a PDF: `{"pages": n, "file": {"blobRef": …}}`.

    A thread sets it, and goes on to its end, unheard, where the job is cancelled meanwhile.
    """
    first = dt.date(2013, params.month, 1)
    last = first.replace(day=calendar.monthrange(first.year, first.month)[1])
    period = CarrierPeriod.model_validate({"origin": params.origin, "from": first, "to": last})

    async def rows(question: Handler[CarrierPeriod]) -> list[Row]:
        answer: Any = await question(period, envelope, client)
        found: list[Row] = answer["rows"]
        return found

    work.progress(0, _STEPS, f"reading {first:%B}")
    figures = {
        "title": f"Flights in {first:%B %Y}",
        "made_for": envelope.client,
        "airports": await fetch(
            client,
            "select a.faa, a.name from nyc.airports as a"
            " where a.faa = any(%(origins)s) order by a.faa",
            chosen(period, envelope),
        ),
        "overview": (await rows(overview))[0],
        "days": await rows(daily_traffic),
        "carriers": await rows(delays_by_carrier),
        "worst": await rows(worst_days),
    }
    work.progress(1, _STEPS, "setting the page")
    document = await asyncio.to_thread(setting.typeset, figures, last)
    work.progress(2, _STEPS, "writing the file")
    filename = f"flights-{params.origin or 'all'}-{first:%Y-%m}.pdf"
    async with work.blob("application/pdf", filename) as blob:
        await blob.write(document.pdf)
    work.progress(_STEPS, _STEPS, "written")
    return {"pages": document.pages, "file": blob.ref}
