"""Routes: what each address of the edge does."""

import re
from dataclasses import dataclass

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pgplane import ledger
from pgplane.edge.access.auth import Verifier
from pgplane.edge.access.scopes import ScopeKeys
from pgplane.edge.access.tickets import SharedTickets
from pgplane.edge.database import QueueDatabase
from pgplane.edge.health import Readiness
from pgplane.edge.problems import Problem
from pgplane.edge.questions import read_question
from pgplane.edge.replies import replies
from pgplane.edge.replies.pump import TERMINAL, ReplyPump
from pgplane.edge.replies.streams import Streams
from pgplane.errors import Busy
from pgplane.ledger.records import Job, Submitted
from pgplane.names import queue_of
from pgplane.settings import Settings

MAX_JOB_ID = 2**63 - 1
_JOB_ID = re.compile(r"[0-9]{1,19}")
_WAIT = re.compile(r'(?:^|[,;])\s*wait\s*=\s*"?([0-9]{1,4})"?\s*(?:$|[,;])')
_NO_STORE = {"Cache-Control": "no-store"}


@dataclass(frozen=True, slots=True)
class Edge:
    """What the routes work with; one a process, at `app.state.edge`."""

    settings: Settings
    database: QueueDatabase
    verifier: Verifier
    tickets: SharedTickets
    scope_keys: ScopeKeys
    pump: ReplyPump
    streams: Streams
    readiness: Readiness

    def queue(self, surface: str) -> str:
        """The queue of a surface; whether there is one is the ledger's to say.

        Raises Problem 404: a surface cannot be called so.
        """
        try:
            return queue_of(surface, self.settings.surfaces_tier)
        except ValueError:
            raise Problem(404, "NOT_FOUND", "no such surface") from None

    async def find(self, queue: str, job_id: int, scope_keys: tuple[str, ...]) -> Job:
        """The job as these keys may see it; raises Problem 404."""
        wanted = [(job_id, key) for key in scope_keys]
        jobs = await self.database.call(ledger.get_results, queue, wanted)
        if not jobs:
            raise _no_such_job()
        return jobs[0]


async def submit(request: Request) -> Response:
    """POST a question: 202 and where its answer will be, or 200 with it."""
    edge: Edge = request.app.state.edge
    surface = request.path_params["surface"]
    caller = await edge.verifier.caller(request.headers.get("authorization"))
    caller.enter(surface)
    queue = edge.queue(surface)
    question = await read_question(request, edge.settings.body_bytes)
    fresh = _wants_fresh(request)
    submitted = await edge.database.call(
        ledger.submit_request,
        queue,
        question.operation,
        question.params,
        caller.envelope(),
        version=question.version,
        fresh=fresh,
    )
    scope_keys = await edge.scope_keys.of(caller)
    status_url = f"{request.scope.get('root_path', '')}/api/{surface}/q/{submitted.job_id}"
    headers = {**_NO_STORE, "Location": status_url}
    wait = _wait_seconds(request)
    if wait is not None:
        wait = min(wait, int(edge.settings.stream_seconds))
        headers["Preference-Applied"] = f"wait={wait}"
        job = await _ended(edge, queue, submitted.job_id, scope_keys, wait)
        if job is not None:
            headers["Cache-Status"] = _cache_status(submitted, fresh, job.cache == "hit")
            return Response(replies.document(job), 200, headers, "application/json")
    ticket = (await edge.tickets.get()).issue(surface, submitted.job_id, scope_keys)
    headers |= {"Retry-After": "1", "Cache-Status": _cache_status(submitted, fresh)}
    body = {
        "jobId": str(submitted.job_id),
        "streamUrl": f"{status_url}/stream?ticket={ticket}",
        "statusUrl": status_url,
        "coalesced": submitted.coalesced,
    }
    return Response(orjson.dumps(body), 202, headers, "application/json")


async def poll(request: Request) -> Response:
    """GET a job: its status, and its result or error once it has ended."""
    edge: Edge = request.app.state.edge
    surface, job_id = _job_of(request)
    caller = await edge.verifier.caller(request.headers.get("authorization"))
    caller.enter(surface)
    job = await edge.find(edge.queue(surface), job_id, await edge.scope_keys.of(caller))
    headers = {**_NO_STORE} if job.status in TERMINAL else {**_NO_STORE, "Retry-After": "1"}
    return Response(replies.document(job), 200, headers, "application/json")


async def stream(request: Request) -> Response:
    """GET a job's events; 204 to a client that has already seen the last one."""
    edge: Edge = request.app.state.edge
    surface, job_id = _job_of(request)
    scope_keys = await _stream_keys(edge, request, surface, job_id)
    queue = edge.queue(surface)
    if request.headers.get("last-event-id") == replies.end_id(job_id):
        return Response(status_code=204, headers=_NO_STORE)
    if edge.streams.draining:
        raise Problem(503, "SHUTTING_DOWN", "this edge is shutting down", {"Retry-After": "1"})
    if request.method == "HEAD":
        await edge.find(queue, job_id, scope_keys)
        return edge.streams.open(lambda: None)
    seconds = edge.settings.stream_seconds
    waiter = await edge.pump.attach(queue, job_id, scope_keys, seconds)
    if waiter is None:
        raise _no_such_job()
    return replies.Reply(edge.pump, edge.streams, waiter, seconds).stream


async def livez(_request: Request) -> Response:
    """GET whether the process runs: it answers, so it does."""
    return Response(b'{"status":"live"}', 200, _NO_STORE, "application/json")


async def readyz(request: Request) -> Response:
    """GET whether requests can be served here, or the reasons why not."""
    edge: Edge = request.app.state.edge
    reasons = await edge.readiness.reasons()
    if reasons:
        raise Problem(
            503, "NOT_READY", "; ".join(reasons), {"Retry-After": "2"}, {"reasons": reasons}
        )
    return Response(b'{"status":"ready"}', 200, _NO_STORE, "application/json")


ROUTES = [
    Route("/api/{surface}/q", submit, methods=["POST"]),
    Route("/api/{surface}/q/{job_id}", poll, methods=["GET"]),
    Route("/api/{surface}/q/{job_id}/stream", stream, methods=["GET"]),
    Route("/livez", livez, methods=["GET"]),
    Route("/readyz", readyz, methods=["GET"]),
]


async def _stream_keys(edge: Edge, request: Request, surface: str, job_id: int) -> tuple[str, ...]:
    """A header, where there is one, decides alone; a plain EventSource can only send a ticket."""
    authorization = request.headers.get("authorization")
    ticket = request.query_params.get("ticket")
    if authorization is None and ticket is not None:
        return (await edge.tickets.get()).check(ticket, surface, job_id)
    caller = await edge.verifier.caller(authorization)
    caller.enter(surface)
    return await edge.scope_keys.of(caller)


async def _ended(
    edge: Edge, queue: str, job_id: int, scope_keys: tuple[str, ...], seconds: float
) -> Job | None:
    """The job, if it ends within so many seconds, and while this edge stays."""
    try:
        waiter = await edge.pump.attach(queue, job_id, scope_keys, seconds)
    except Busy:  # the question is accepted all the same
        return None
    if waiter is None:
        return None
    if edge.streams.draining:
        seconds = 0
    try:
        return waiter.job if await waiter.until_ended(seconds) else None
    finally:
        edge.pump.detach(waiter)


def _job_of(request: Request) -> tuple[str, int]:
    digits: str = request.path_params["job_id"]
    if not _JOB_ID.fullmatch(digits) or int(digits) > MAX_JOB_ID:
        raise _no_such_job()
    return request.path_params["surface"], int(digits)


def _no_such_job() -> Problem:
    return Problem(404, "NO_SUCH_JOB", "there is no such job, or it is not yours to see")


def _wants_fresh(request: Request) -> bool:
    directives = ",".join(request.headers.getlist("cache-control")).lower().split(",")
    return "no-cache" in (directive.strip() for directive in directives)


def _wait_seconds(request: Request) -> int | None:
    """`Prefer: wait=N` of RFC 7240."""
    match = _WAIT.search(",".join(request.headers.getlist("prefer")).lower())
    return int(match[1]) if match else None


def _cache_status(submitted: Submitted, fresh: bool, hit: bool = False) -> str:
    """RFC 9211: whether the answer was at hand, else why not, and whether the question joined."""
    if hit:
        return "pgplane; hit"
    collapsed = "collapsed" if submitted.coalesced else "collapsed=?0"
    return f"pgplane; fwd={'request' if fresh else 'miss'}; {collapsed}"
