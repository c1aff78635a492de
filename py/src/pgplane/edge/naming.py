"""Naming: the jobs that an address names, or a notification."""

import re
from collections.abc import Iterator

from starlette.requests import Request

from pgplane.edge.problems import Problem, no_such_job

MAX_JOB_ID = 2**63 - 1
MAX_JOBS = 100
_JOB_ID = re.compile(r"[0-9]{1,19}")


def named_job(request: Request) -> int:
    """The job of an address; 0, which is no job's, where it has none. Raises Problem 404."""
    digits: str = request.path_params.get("job_id", "0")
    if not _JOB_ID.fullmatch(digits) or int(digits) > MAX_JOB_ID:
        raise no_such_job()
    return int(digits)


def named_jobs(request: Request) -> list[int]:
    """The ids in `?jobs=1,2,3`, each once; raises Problem 422. There may be no such jobs."""
    words = ",".join(request.query_params.getlist("jobs")).split(",")
    job_ids = list(dict.fromkeys(map(int, words))) if all(map(_JOB_ID.fullmatch, words)) else []
    if not 1 <= len(job_ids) <= MAX_JOBS:
        detail = f"name 1 to {MAX_JOBS} jobs by their ids: ?jobs=1,2,3"
        raise Problem(422, "BAD_JOBS", detail)
    return job_ids


def notified_jobs(payload: str) -> Iterator[int]:
    """The ids in the payload of a notification, which anybody may have sent."""
    return (int(word) for word in payload.split(",") if _JOB_ID.fullmatch(word))
