"""Asking: a question becomes a job, or joins one."""

import re
from collections.abc import Iterable
from contextlib import suppress

import orjson
from starlette.requests import Request
from starlette.responses import Response

from pgplane import ledger
from pgplane.edge.access.access import Visitor
from pgplane.edge.access.tickets import STREAM
from pgplane.edge.admission import Full
from pgplane.edge.checking.wording import Wrong
from pgplane.edge.edge import Edge
from pgplane.edge.problems import Problem
from pgplane.edge.questions import Question, parse, read_body
from pgplane.edge.replies import replies
from pgplane.edge.routes.responses import POLL, json_response, surface_url
from pgplane.errors import Busy
from pgplane.ledger.records import Job, Submitted

_WAIT = re.compile(r'(?:^|[,;])\s*wait\s*=\s*"?([0-9]{1,4})"?\s*(?:$|[,;])')


async def submit(request: Request) -> Response:
    """POST a question: 202 and where its answer will be, or 200 with it."""
    edge: Edge = request.app.state.edge
    visitor = await edge.access.of(request)
    body = await read_body(request, edge.settings.body_bytes)
    fresh = _wants_fresh(request)
    async with edge.admission.question(visitor.name):
        question = parse(body)
        await _check(edge, visitor.queue, question)
        submitted = await edge.database.call(
            ledger.submit_request,
            visitor.queue,
            question.operation,
            question.params,
            visitor.envelope,
            version=question.version,
            fresh=fresh,
        )
    status_url = f"{surface_url(request, visitor)}/q/{submitted.job_id}"
    headers = {"Location": status_url}
    wait = _wait_seconds(request)
    if wait is not None:
        wait = min(wait, int(edge.settings.stream_seconds))
        with suppress(Full), edge.admission.stream(visitor.name):
            headers["Preference-Applied"] = f"wait={wait}"
            job = await _ended(edge, visitor, submitted.job_id, wait)
            if job is not None:
                headers["Cache-Status"] = _cache_status(submitted, fresh, job.cache == "hit")
                return json_response(replies.document(job), headers=headers)
    tickets = await edge.tickets.get()
    ticket = tickets.issue(visitor.queue, [submitted.job_id], visitor.scope_keys, STREAM)
    headers |= {**POLL, "Cache-Status": _cache_status(submitted, fresh)}
    accepted = {
        "jobId": str(submitted.job_id),
        "streamUrl": f"{status_url}/stream?ticket={ticket}",
        "statusUrl": status_url,
        "coalesced": submitted.coalesced,
    }
    return json_response(orjson.dumps(accepted), 202, headers)


async def _check(edge: Edge, queue: str, question: Question) -> None:
    """Refuse a question whose params do not fit: Problem 422.

    Whether there is such an operation is for the ledger to say.
    """
    wrong = await edge.manifests.faults(queue, question)
    if wrong:
        raise invalid_params(wrong)


def invalid_params(wrong: Iterable[Wrong]) -> Problem:
    """The refusal of params, the same as the worker's: each wrong field, and what is wrong."""
    errors = [one._asdict() for one in wrong]
    return Problem(422, "PARAMS", "invalid params", extra={"errors": errors})


async def _ended(edge: Edge, visitor: Visitor, job_id: int, seconds: float) -> Job | None:
    """The job, if it ends within so many seconds, and while this edge stays."""
    try:
        waiter = await edge.pump.attach(visitor.queue, job_id, visitor.scope_keys, seconds)
    except Busy:  # the question is accepted all the same
        return None
    if waiter is None:
        return None
    if waiter.job is None:
        edge.pump.resume(waiter)
    if edge.streams.draining:
        seconds = 0
    try:
        return waiter.job if await waiter.until_ended(seconds) else None
    finally:
        edge.pump.detach(waiter)


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
