"""Replies: a job as its asker sees it, as a poll's document and as events of a stream."""

import json
from datetime import UTC, datetime
from typing import Any

import orjson

from pgplane.edge.problems import Problem, no_such_job, title
from pgplane.edge.replies.streams import frame
from pgplane.edge.replies.waiters import TERMINAL
from pgplane.ledger.records import Job

_GIVEN_UP = {
    "poison": (500, "POISON", "the operation failed each time it was tried"),
    "cancelled": (409, "CANCELLED", "the job was cancelled"),
}

ALL_TOLD = "end"
"""The id of the event that ends a stream of many jobs."""


def end_id(job_id: int) -> str:
    """The id of the event that ends a job's stream."""
    return f"{job_id}.end"


def document(job: Job) -> bytes:
    """What a poll answers: `{jobId, status, progress, position, result | error, cache, times}`."""
    body: dict[str, object] = {
        "jobId": str(job.job_id),
        "status": job.status,
        "progress": _spliced(job.progress),
        "position": job.position,
    }
    problem = _problem(job)
    if problem is not None:
        body["error"] = problem.members()
    elif job.status in TERMINAL:
        body["result"] = _spliced(job.result)
    return orjson.dumps({**body, "cache": job.cache, "times": _times(job)})


def queued(job: Job) -> bytes:
    """The event that says a job waits, and at which place (from 1; null: not among the ready)."""
    data = {"jobId": str(job.job_id), "status": job.status, "position": job.position}
    return frame("queued", orjson.dumps(data), f"{job.job_id}.queued")


def running(job: Job) -> bytes:
    """The event that says a worker has the job, and how far it is."""
    return _held("running", job)


def progress(job: Job) -> bytes:
    """The event that says how far the job is by now."""
    return _held("progress", job)


def ending(job: Job) -> bytes:
    """The last event: `done` with the result, or `error` with a problem."""
    problem = _problem(job)
    if problem is not None:
        return frame("error", problem.document(), end_id(job.job_id))
    data = {
        "jobId": str(job.job_id),
        "result": _spliced(job.result),
        "cache": job.cache,
        "times": _times(job),
    }
    return frame("done", orjson.dumps(data), end_id(job.job_id))


def timed_out(job_id: int, seconds: float) -> bytes:
    """The event that ends a stream whose job goes on without it."""
    detail = f"no answer within {seconds:g} s; the job runs on: poll it, or ask again"
    problem = Problem(504, "TIMEOUT", detail, extra={"jobId": str(job_id)})
    return frame("error", problem.document(), end_id(job_id))


def unknown(job_id: int) -> bytes:
    """The event that says, in a stream of many jobs, that this one is none of the caller's."""
    problem = no_such_job()
    problem.extra["jobId"] = str(job_id)
    return frame("error", problem.document(), end_id(job_id))


def all_told() -> bytes:
    """The event that ends a stream of many jobs, once each of them has come to its end."""
    return frame("end", b"{}", ALL_TOLD)


def _held(name: str, job: Job) -> bytes:
    data = {
        "jobId": str(job.job_id),
        "status": job.status,
        "progress": _spliced(job.progress),
        "times": _times(job),
    }
    return frame(name, orjson.dumps(data), f"{job.job_id}.{name}")


def _problem(job: Job) -> Problem | None:
    """Why an ended job has no result; None where it has one, or has not ended."""
    job_id = str(job.job_id)
    if job.status in _GIVEN_UP:
        status, code, detail = _GIVEN_UP[job.status]
        return Problem(status, code, detail, extra={"jobId": job_id})
    if job.status in TERMINAL and job.error is not None:
        return _refusal(job.error, job_id)
    return None


def _refusal(error: bytes, job_id: str) -> Problem:
    """The problem for a handler's `{status, code, message, …}`; what is not so gets defaults."""
    fields = _fields(error)
    status, code, message = (fields.pop(name, None) for name in ("status", "code", "message"))
    if not isinstance(status, int) or not 400 <= status <= 599:
        status = 500
    return Problem(
        status,
        code if isinstance(code, str) else "REFUSED",
        message if isinstance(message, str) else title(status),
        extra={**fields, "jobId": job_id},
    )


def _fields(error: bytes) -> dict[str, Any]:
    """The members of an error payload that a document can hold; any worker may have written it."""
    try:
        payload: Any = json.loads(bytes(error), parse_int=_number, parse_float=_number)
    except RecursionError:
        return {}
    return {
        name: value
        for name, value in (payload.items() if isinstance(payload, dict) else ())
        if _printable(name, value)
    }


def _printable(*member: object) -> bool:
    """Whether orjson takes it, as deep in a document as it will be: it prints 254 levels."""
    try:
        orjson.dumps([member])
    except TypeError:
        return False
    return True


def _number(text: str) -> int | orjson.Fragment:
    """A number as it was written; what may be an HTTP status can be computed with."""
    return int(text) if len(text) == 3 and text.isdigit() else orjson.Fragment(text)


def _spliced(text: bytes | None) -> orjson.Fragment | None:
    """JSON text that goes out as it came in, byte for byte."""
    return None if text is None else orjson.Fragment(bytes(text))


def _times(job: Job) -> dict[str, datetime | None]:
    moments = {
        "created": job.created_at,
        "claimed": job.claimed_at,
        "finished": job.finished_at,
    }
    return {name: moment and moment.astimezone(UTC) for name, moment in moments.items()}
