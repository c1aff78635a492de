"""Jobs: enqueued, claimed, held, settled, stopped and redriven."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import LiteralString

from psycopg.rows import args_row, scalar_row

from pgplane.ledger.calls import Connection, rows, value
from pgplane.ledger.records import Claim, Renewal, Submitted

_CLAIM_COLUMNS: LiteralString = (
    "job_id, attempt, queue, operation, version, params, envelope, dedupe_key, serial_key,"
    " max_dequeues, lease_expires_at, created_at, cache_key, fresh"
)
_claim_row = args_row(Claim)
_submitted_row = args_row(Submitted)
_renewal_row = args_row(Renewal)


async def enqueue(
    connection: Connection,
    queue: str,
    operation: str,
    params: str = "{}",
    envelope: str = "{}",
    *,
    dedupe_key: str | None = None,
    serial_key: str | None = None,
    priority: int = 0,
    available_at: datetime | None = None,
    max_dequeues: int | None = None,
    version: int | None = None,
) -> Submitted:
    """One job, or the live one that has this dedupe key."""
    (submitted,) = await rows(
        connection,
        _submitted_row,
        "select job_id, coalesced from plane.enqueue(p_queue => %s, p_operation => %s, p_params"
        " => %s::jsonb, p_envelope => %s::jsonb, p_dedupe_key => %s, p_serial_key => %s,"
        " p_priority => %s, p_available_at => %s, p_max_dequeues => %s, p_version => %s)",
        (
            *(queue, operation, params, envelope, dedupe_key, serial_key),
            *(priority, available_at, max_dequeues, version),
        ),
    )
    return submitted


async def enqueue_many(connection: Connection, queue: str, jobs: str) -> list[Submitted]:
    """Many jobs in one statement, all or none; the answers in their order.

    `jobs` is a JSON array of objects with the arguments of `enqueue` as keys.
    """
    return await rows(
        connection,
        _submitted_row,
        "select job_id, coalesced from plane.enqueue_many(p_queue => %s, p_jobs => %s::jsonb)"
        " order by ordinality",
        (queue, jobs),
    )


async def claim_one(connection: Connection, queue: str, worker: str) -> list[Claim]:
    """The oldest claimable job, or none. Raises NotFound: no such queue."""
    return await rows(
        connection,
        _claim_row,
        f"select {_CLAIM_COLUMNS} from plane.claim_one(p_queue => %s, p_worker => %s)",
        (queue, worker),
    )


async def claim(connection: Connection, queue: str, worker: str, n: int) -> list[Claim]:
    """Up to `n` claimable jobs, oldest first within priority. Raises NotFound."""
    return await rows(
        connection,
        _claim_row,
        f"select {_CLAIM_COLUMNS} from plane.claim(p_queue => %s, p_worker => %s, p_n => %s)",
        (queue, worker, n),
    )


async def renew_leases(
    connection: Connection, worker: str, held: Sequence[tuple[int, int]]
) -> list[Renewal]:
    """The heartbeat for all `(job_id, attempt)` held, and the worker's presence, in one call."""
    return await rows(
        connection,
        _renewal_row,
        "select job_id, state, lease from plane.renew_leases(p_worker => %s, p_job_ids =>"
        " %s::bigint[], p_attempts => %s::int[])",
        (worker, [job_id for job_id, _ in held], [attempt for _, attempt in held]),
    )


async def complete_job(
    connection: Connection,
    job_id: int,
    attempt: int,
    *,
    result: str | None = None,
    error: str | None = None,
    cache: str | None = None,
    blobs_of: int | None = None,
) -> bool:
    """`done`, with a result or an error payload; False: the attempt no longer holds the job.

    `blobs_of` is the job that computed the result, where that names blobs of its own. Raises
    NotFound, Gone: it has none to share.
    """
    completed: bool = await value(
        connection,
        "select plane.complete_job(p_job_id => %s, p_attempt => %s, p_result => %s::json,"
        " p_error => %s::json, p_cache => %s, p_blobs_of => %s)",
        (job_id, attempt, result, error, cache, blobs_of),
    )
    return completed


async def complete_jobs(
    connection: Connection,
    held: Sequence[tuple[int, int]],
    *,
    results: Sequence[str | None] | None = None,
    errors: Sequence[str | None] | None = None,
    caches: Sequence[str | None] | None = None,
    blobs_of: Sequence[int | None] | None = None,
) -> list[bool]:
    """`complete_job` for many `(job_id, attempt)` in one statement; the answers in their order."""
    return await rows(
        connection,
        scalar_row,
        "select completed from plane.complete_jobs(p_job_ids => %s::bigint[], p_attempts =>"
        " %s::int[], p_results => %s::json[], p_errors => %s::json[], p_caches => %s::text[],"
        " p_blobs_of => %s::bigint[])",
        (
            [job_id for job_id, _ in held],
            [attempt for _, attempt in held],
            *(given and list(given) for given in (results, errors, caches, blobs_of)),
        ),
    )


async def fail_job(
    connection: Connection, job_id: int, attempt: int, error: str, retry_in: timedelta | None = None
) -> str:
    """What became of the job: `pending` (it comes back), `poison`, `cancelled` or `lost`."""
    status: str = await value(
        connection,
        "select plane.fail_job(p_job_id => %s, p_attempt => %s, p_error => %s::json, p_retry_in"
        " => %s)",
        (job_id, attempt, error, retry_in),
    )
    return status


async def release_job(connection: Connection, job_id: int, attempt: int) -> bool:
    """Give a job back at once, its try unspent; False: the attempt no longer holds it."""
    released: bool = await value(
        connection,
        "select plane.release_job(p_job_id => %s, p_attempt => %s)",
        (job_id, attempt),
    )
    return released


async def report_progress(
    connection: Connection,
    job_id: int,
    attempt: int,
    done: int,
    total: int | None = None,
    message: str | None = None,
) -> str:
    """How far an attempt is: `held`, or `cancelling` (stop soon). Raises Conflict: it is lost.

    Call it in the transaction of the batch that got it there: the attempt is kept until that ends.
    """
    state: str = await value(
        connection,
        "select plane.report_progress(p_job_id => %s, p_attempt => %s, p_done => %s, p_total => %s,"
        " p_message => %s)",
        (job_id, attempt, done, total, message),
    )
    return state


async def request_cancel(connection: Connection, job_id: int, by: str) -> str:
    """The job's status then: `cancelled`, `cancelling` (a worker has it), or how it had ended.

    Role: admin. Raises NotFound.
    """
    status: str = await value(
        connection,
        "select plane.request_cancel(p_job_id => %s, p_by => %s)",
        (job_id, by),
    )
    return status


async def finish_cancel(
    connection: Connection, job_id: int, attempt: int, *, result: str | None = None
) -> bool:
    """`cancelled`, with what had got done; False: lost, or nobody asked it to stop."""
    cancelled: bool = await value(
        connection,
        "select plane.finish_cancel(p_job_id => %s, p_attempt => %s, p_result => %s::json)",
        (job_id, attempt, result),
    )
    return cancelled


async def retry_job(connection: Connection, job_id: int) -> int:
    """Make a poison job pending again; the job that answers it, mostly itself.

    Role: admin. Raises NotFound, Conflict: it is not poison.
    """
    answering: int = await value(connection, "select plane.retry_job(p_job_id => %s)", (job_id,))
    return answering


async def retry_poison(
    connection: Connection,
    queue: str,
    operation: str | None = None,
    *,
    limit: int = 1000,
    spread: timedelta | None = None,
) -> int:
    """Make the oldest poison jobs of a queue pending again, spread over a time; how many.

    Role: admin. Raises NotFound.
    """
    retried: int = await value(
        connection,
        "select plane.retry_poison(p_queue => %s, p_operation => %s, p_limit => %s, p_spread =>"
        " %s)",
        (queue, operation, limit, spread),
    )
    return retried
