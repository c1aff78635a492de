"""Jobs: how one stands, and leaving it."""

from contextlib import suppress
from datetime import timedelta

from starlette.requests import Request
from starlette.responses import Response

from pgplane import ledger
from pgplane.edge.access.access import Visitor
from pgplane.edge.edge import Edge
from pgplane.edge.problems import no_such_job
from pgplane.edge.replies import replies
from pgplane.edge.replies.waiters import TERMINAL
from pgplane.edge.routes.responses import NO_STORE, POLL, json_response
from pgplane.errors import Busy, Unavailable
from pgplane.ledger.records import Job


async def job(request: Request) -> Response:
    """What is served at a job's own address."""
    return await (leave if request.method == "DELETE" else poll)(request)


async def poll(request: Request) -> Response:
    """GET a job: its status, and its result or error once it has ended."""
    edge: Edge = request.app.state.edge
    visitor = await edge.access.of(request)
    found = await edge.find(visitor)
    headers = {}
    if found.status not in TERMINAL:
        await _still_wanted(edge, visitor, found)
        headers = POLL
    return json_response(replies.document(found), headers=headers)


async def leave(request: Request) -> Response:
    """DELETE: the caller wants the job no more; who leaves it last cancels it."""
    edge: Edge = request.app.state.edge
    visitor = await edge.access.of(request)
    await edge.pump.until_noted(visitor.queue, visitor.job_id, visitor.name)
    for scope_key in visitor.scope_keys:
        status = await edge.database.call(
            ledger.leave_job, visitor.queue, visitor.job_id, scope_key, visitor.name
        )
        if status is not None:
            return Response(status_code=204, headers=NO_STORE)
    raise no_such_job()


async def _still_wanted(edge: Edge, visitor: Visitor, found: Job) -> None:
    """Note that who polls wants the job for as long as a stream would; the ledger writes it only
    now and then. How the job stands is told all the same where that cannot be noted."""
    wait = timedelta(seconds=edge.settings.stream_seconds)
    with suppress(Busy, Unavailable):
        await edge.database.call(
            ledger.register_waiter,
            visitor.queue,
            found.job_id,
            found.scope_key,
            visitor.name,
            wait,
        )
