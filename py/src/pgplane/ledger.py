"""The ledger: every statement for the queue database, each a call of one stored function.

Arguments and results that are JSON travel as text (`str` in, `bytes` out): nothing is parsed on
the way. Every function raises `pgplane.errors.LedgerError` or one of its kinds. Connections come
from `pgplane.session`, in autocommit: a call is its own transaction.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, LiteralString, TypeVar

from psycopg import AsyncConnection
from psycopg.rows import AsyncRowFactory, args_row, scalar_row

from pgplane.errors import ledger_errors
from pgplane.records import Claim, Job, Renewal, Submitted

Connection = AsyncConnection[Any]
Arguments = tuple[object, ...]
T = TypeVar("T")

_CLAIM_COLUMNS: LiteralString = (
    "job_id, attempt, queue, operation, version, params, envelope, dedupe_key, serial_key,"
    " max_dequeues, lease_expires_at, created_at, cache_key, fresh"
)
_JOB_COLUMNS: LiteralString = (
    'job_id, scope_key, status, progress, result, error, cache, "position",'
    " created_at, claimed_at, finished_at"
)
_claim_row = args_row(Claim)
_job_row = args_row(Job)
_submitted_row = args_row(Submitted)
_renewal_row = args_row(Renewal)


async def _rows(
    connection: Connection, row: AsyncRowFactory[T], query: LiteralString, arguments: Arguments
) -> list[T]:
    with ledger_errors():
        async with connection.cursor(row_factory=row) as cursor:
            await cursor.execute(query, arguments)
            return await cursor.fetchall()


async def _value(connection: Connection, query: LiteralString, arguments: Arguments) -> Any:
    rows: list[Any] = await _rows(connection, scalar_row, query, arguments)
    return rows[0]


async def _job(connection: Connection, query: LiteralString, arguments: Arguments) -> Job | None:
    jobs = await _rows(connection, _job_row, query, arguments)
    return jobs[0] if jobs else None


async def create_queue(
    connection: Connection,
    queue: str,
    *,
    lease: timedelta | None = None,
    max_dequeues: int | None = None,
    backoff: timedelta | None = None,
    backoff_factor: float | None = None,
    backoff_cap: timedelta | None = None,
    retention: timedelta | None = None,
    max_depth: int | None = None,
    notify: str | None = None,
) -> None:
    """Create a queue or alter the settings given; `max_depth=0` lifts the limit. Role: admin."""
    await _value(
        connection,
        "select plane.create_queue(p_queue => %s, p_lease => %s, p_max_dequeues => %s,"
        " p_backoff => %s, p_backoff_factor => %s::numeric, p_backoff_cap => %s, p_retention =>"
        " %s, p_max_depth => %s, p_notify => %s)",
        (
            *(queue, lease, max_dequeues, backoff, backoff_factor, backoff_cap),
            *(retention, max_depth, notify),
        ),
    )


async def pause_queue(connection: Connection, queue: str) -> None:
    """Hand out no more of its jobs; it still accepts. Role: admin. Raises NotFound."""
    await _value(connection, "select plane.pause_queue(p_queue => %s)", (queue,))


async def resume_queue(connection: Connection, queue: str) -> None:
    """Hand out again, and wake the workers. Role: admin. Raises NotFound."""
    await _value(connection, "select plane.resume_queue(p_queue => %s)", (queue,))


async def drop_queue(connection: Connection, queue: str) -> None:
    """Remove a queue and all it has finished. Role: admin. Raises NotFound, Conflict: live jobs,
    Busy: somebody is enqueuing, try again."""
    await _value(connection, "select plane.drop_queue(p_queue => %s)", (queue,))


async def register_worker(
    connection: Connection, worker: str, queue: str, info: str = "{}"
) -> timedelta:
    """Announce a worker; the answer is its queue's lease. Raises NotFound: no such queue."""
    lease: timedelta = await _value(
        connection,
        "select plane.register_worker(p_worker => %s, p_queue => %s, p_info => %s::jsonb)",
        (worker, queue, info),
    )
    return lease


async def register_manifest(connection: Connection, queue: str, operations: str) -> None:
    """Announce a surface's operations (a JSON array); older versions stay."""
    await _value(
        connection,
        "select plane.register_manifest(p_queue => %s, p_operations => %s::jsonb)",
        (queue, operations),
    )


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
    (submitted,) = await _rows(
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
    return await _rows(
        connection,
        _submitted_row,
        "select job_id, coalesced from plane.enqueue_many(p_queue => %s, p_jobs => %s::jsonb)"
        " order by ordinality",
        (queue, jobs),
    )


async def submit_request(
    connection: Connection,
    queue: str,
    operation: str,
    params: str,
    envelope: str,
    *,
    version: int | None = None,
    fresh: bool = False,
) -> Submitted:
    """The request plane's enqueue: the database checks the manifest and computes the keys.

    `envelope` is `{"client": …, "actor": …, "staff": …, "scope": […]}`. Raises NotFound (queue or
    operation), NotReady (no manifest yet), Invalid, TooLarge, QueueFull.
    """
    (submitted,) = await _rows(
        connection,
        _submitted_row,
        "select job_id, coalesced from plane.submit_request(p_queue => %s, p_operation => %s,"
        " p_params => %s::jsonb, p_envelope => %s::jsonb, p_version => %s, p_fresh => %s)",
        (queue, operation, params, envelope, version, fresh),
    )
    return submitted


async def scope_key(
    connection: Connection, client: str, scope: str, staff: bool, actor: str | None = None
) -> str:
    """The key (64 hex digits) that callers share who may see the same; `scope`: a JSON array."""
    key: str = await _value(
        connection,
        "select plane.scope_key(p_client => %s, p_scope => %s::jsonb, p_staff => %s, p_actor =>"
        " %s)",
        (client, scope, staff, actor),
    )
    return key


async def claim_one(connection: Connection, queue: str, worker: str) -> list[Claim]:
    """The oldest claimable job, or none. Raises NotFound: no such queue."""
    return await _rows(
        connection,
        _claim_row,
        f"select {_CLAIM_COLUMNS} from plane.claim_one(p_queue => %s, p_worker => %s)",
        (queue, worker),
    )


async def claim(connection: Connection, queue: str, worker: str, n: int) -> list[Claim]:
    """Up to `n` claimable jobs, oldest first within priority. Raises NotFound."""
    return await _rows(
        connection,
        _claim_row,
        f"select {_CLAIM_COLUMNS} from plane.claim(p_queue => %s, p_worker => %s, p_n => %s)",
        (queue, worker, n),
    )


async def renew_leases(
    connection: Connection, worker: str, held: Sequence[tuple[int, int]]
) -> list[Renewal]:
    """The heartbeat for all `(job_id, attempt)` held, and the worker's presence, in one call."""
    return await _rows(
        connection,
        _renewal_row,
        "select job_id, state from plane.renew_leases(p_worker => %s, p_job_ids =>"
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
) -> bool:
    """`done`, with a result or an error payload; False: the attempt no longer holds the job."""
    completed: bool = await _value(
        connection,
        "select plane.complete_job(p_job_id => %s, p_attempt => %s, p_result => %s::json,"
        " p_error => %s::json, p_cache => %s)",
        (job_id, attempt, result, error, cache),
    )
    return completed


async def complete_jobs(
    connection: Connection,
    held: Sequence[tuple[int, int]],
    *,
    results: Sequence[str | None] | None = None,
    errors: Sequence[str | None] | None = None,
    caches: Sequence[str | None] | None = None,
) -> list[bool]:
    """`complete_job` for many `(job_id, attempt)` in one statement; the answers in their order."""
    return await _rows(
        connection,
        scalar_row,
        "select completed from plane.complete_jobs(p_job_ids => %s::bigint[], p_attempts =>"
        " %s::int[], p_results => %s::json[], p_errors => %s::json[], p_caches => %s::text[])",
        (
            [job_id for job_id, _ in held],
            [attempt for _, attempt in held],
            *(given and list(given) for given in (results, errors, caches)),
        ),
    )


async def fail_job(
    connection: Connection, job_id: int, attempt: int, error: str, retry_in: timedelta | None = None
) -> str:
    """What became of the job: `pending` (it comes back), `poison`, `cancelled` or `lost`."""
    status: str = await _value(
        connection,
        "select plane.fail_job(p_job_id => %s, p_attempt => %s, p_error => %s::json, p_retry_in"
        " => %s)",
        (job_id, attempt, error, retry_in),
    )
    return status


async def release_job(connection: Connection, job_id: int, attempt: int) -> bool:
    """Give a job back at once, its try unspent; False: the attempt no longer holds it."""
    released: bool = await _value(
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
    state: str = await _value(
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
    status: str = await _value(
        connection,
        "select plane.request_cancel(p_job_id => %s, p_by => %s)",
        (job_id, by),
    )
    return status


async def finish_cancel(
    connection: Connection, job_id: int, attempt: int, *, result: str | None = None
) -> bool:
    """`cancelled`, with what had got done; False: lost, or nobody asked it to stop."""
    cancelled: bool = await _value(
        connection,
        "select plane.finish_cancel(p_job_id => %s, p_attempt => %s, p_result => %s::json)",
        (job_id, attempt, result),
    )
    return cancelled


async def retry_job(connection: Connection, job_id: int) -> int:
    """Make a poison job pending again; the job that answers it, mostly itself.

    Role: admin. Raises NotFound, Conflict: it is not poison.
    """
    answering: int = await _value(connection, "select plane.retry_job(p_job_id => %s)", (job_id,))
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
    retried: int = await _value(
        connection,
        "select plane.retry_poison(p_queue => %s, p_operation => %s, p_limit => %s, p_spread =>"
        " %s)",
        (queue, operation, limit, spread),
    )
    return retried


async def sweep(connection: Connection) -> int:
    """Do what time does (lapsed leases, due rows, …); the number of rows moved."""
    moved: int = await _value(connection, "select plane.sweep()", ())
    return moved


async def get_job(connection: Connection, queue: str, job_id: int, scope_key: str) -> Job | None:
    """The job, if it is this queue's and this scope's."""
    return await _job(
        connection,
        f"select {_JOB_COLUMNS} from plane.get_job(p_queue => %s, p_job_id => %s, p_scope_key =>"
        " %s)",
        (queue, job_id, scope_key),
    )


async def get_results(
    connection: Connection, queue: str, wanted: Sequence[tuple[int, str]]
) -> list[Job]:
    """The jobs of many `(job_id, scope_key)` pairs in one query; those not visible are left out."""
    return await _rows(
        connection,
        _job_row,
        f"select {_JOB_COLUMNS} from plane.get_results(p_queue => %s, p_job_ids => %s::bigint[],"
        " p_scope_keys => %s::text[])",
        (queue, [job_id for job_id, _ in wanted], [scope_key for _, scope_key in wanted]),
    )


async def ticket_key(connection: Connection) -> bytes:
    """The key (32 bytes) that signs stream tickets, one for all edges of the database."""
    key: bytes = await _value(connection, "select plane.ticket_key()", ())
    return key


async def register_waiter(
    connection: Connection,
    queue: str,
    job_id: int,
    scope_key: str,
    waiter: str,
    deadline: datetime,
) -> bool:
    """Note who waits until when; False: no such job for that scope."""
    registered: bool = await _value(
        connection,
        "select plane.register_waiter(p_queue => %s, p_job_id => %s, p_scope_key => %s,"
        " p_waiter => %s, p_deadline => %s)",
        (queue, job_id, scope_key, waiter, deadline),
    )
    return registered


async def await_job(connection: Connection, queue: str, job_id: int, scope_key: str) -> Job | None:
    """As `get_job`, past any completion that is under way; call it after `register_waiter`."""
    return await _job(
        connection,
        f"select {_JOB_COLUMNS} from plane.await_job(p_queue => %s, p_job_id => %s, p_scope_key"
        " => %s)",
        (queue, job_id, scope_key),
    )
