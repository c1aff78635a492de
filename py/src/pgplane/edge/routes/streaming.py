"""Streaming: a job's events, or those of many."""

from contextlib import ExitStack

from starlette.requests import Request
from starlette.responses import Response

from pgplane.edge.access.tickets import MANY, STREAM
from pgplane.edge.edge import Edge
from pgplane.edge.naming import MAX_JOB_ID, named_jobs
from pgplane.edge.problems import Problem, no_such_job
from pgplane.edge.replies.gathering import Gathering
from pgplane.edge.replies.replies import ALL_TOLD, end_id
from pgplane.edge.replies.tellers import reply
from pgplane.edge.routes.responses import NO_STORE


async def stream(request: Request) -> Response:
    """GET a job's events; 204 to a client that has already seen the last one."""
    edge: Edge = request.app.state.edge
    visitor = await edge.access.of(request, STREAM)
    if request.headers.get("last-event-id") == end_id(visitor.job_id):
        await edge.check(visitor)
        return Response(status_code=204, headers=NO_STORE)
    _stay(edge)
    if request.method == "HEAD":
        await edge.check(visitor)
        return edge.streams.open(lambda: None)
    seconds = edge.settings.stream_seconds
    with ExitStack() as held:
        place = held.enter_context(edge.admission.stream(visitor.name))
        waiter = await edge.pump.attach(visitor.queue, visitor.job_id, visitor.scope_keys, seconds)
        if waiter is None:
            raise no_such_job()
        held.callback(edge.pump.detach, waiter)
        response = reply(edge.pump, edge.streams, waiter, seconds, place.close)
        held.pop_all()
        return response


async def stream_many(request: Request) -> Response:
    """GET the events of the caller's jobs; 204 to a client that has already seen the last one."""
    edge: Edge = request.app.state.edge
    visitor = await edge.access.of(request, MANY)
    if request.headers.get("last-event-id") == ALL_TOLD:
        return Response(status_code=204, headers=NO_STORE)
    job_ids = named_jobs(request)
    _stay(edge)
    if request.method == "HEAD":
        return edge.streams.open(lambda: None)
    seconds = edge.settings.stream_seconds
    with ExitStack() as held:
        place = held.enter_context(edge.admission.stream(visitor.name, len(job_ids)))
        can_be = [job_id for job_id in job_ids if job_id <= MAX_JOB_ID]
        found = await edge.pump.attach_all(visitor.queue, can_be, visitor.scope_keys, seconds)
        for waiter in filter(None, found):
            held.callback(edge.pump.detach, waiter)
        waiters = dict.fromkeys(job_ids) | dict(zip(can_be, found, strict=True))
        gathering = Gathering(edge.pump, edge.streams, waiters, seconds, place.close)
        response = gathering.begin()
        held.pop_all()
        return response


def _stay(edge: Edge) -> None:
    if edge.streams.draining:
        raise Problem(503, "SHUTTING_DOWN", "this edge is shutting down", retry_after=1)
