"""Streaming: a job's events."""

from starlette.requests import Request
from starlette.responses import Response

from pgplane.edge.access.tickets import STREAM
from pgplane.edge.parts import Edge
from pgplane.edge.problems import Problem, no_such_job
from pgplane.edge.replies.replies import end_id
from pgplane.edge.replies.tellers import reply
from pgplane.edge.routes.answers import NO_STORE


async def stream(request: Request) -> Response:
    """GET a job's events; 204 to a client that has already seen the last one."""
    edge: Edge = request.app.state.edge
    visitor = await edge.access.of(request, STREAM)
    if request.headers.get("last-event-id") == end_id(visitor.job_id):
        await edge.find(visitor)
        return Response(status_code=204, headers=NO_STORE)
    if edge.streams.draining:
        raise Problem(503, "SHUTTING_DOWN", "this edge is shutting down", {"Retry-After": "1"})
    if request.method == "HEAD":
        await edge.find(visitor)
        return edge.streams.open(lambda: None)
    seconds = edge.settings.stream_seconds
    waiter = await edge.pump.attach(visitor.queue, visitor.job_id, visitor.scope_keys, seconds)
    if waiter is None:
        raise no_such_job()
    return reply(edge.pump, edge.streams, waiter, seconds)
