"""Requests: asked, waited for and read, within a scope."""

from collections.abc import Sequence
from datetime import timedelta
from typing import LiteralString

from psycopg.rows import args_row

from pgplane.ledger.calls import Arguments, Connection, rows, value
from pgplane.ledger.records import Job, Seen, Submitted

_JOB_COLUMNS: LiteralString = (
    'job_id, scope_key, status, progress, result, error, cache, "position",'
    " created_at, claimed_at, finished_at, left_out"
)
_job_row = args_row(Job)
_submitted_row = args_row(Submitted)
_seen_row = args_row(Seen)


async def _job(connection: Connection, query: LiteralString, arguments: Arguments) -> Job | None:
    jobs = await rows(connection, _job_row, query, arguments)
    return jobs[0] if jobs else None


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
    (submitted,) = await rows(
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
    key: str = await value(
        connection,
        "select plane.scope_key(p_client => %s, p_scope => %s::jsonb, p_staff => %s, p_actor =>"
        " %s)",
        (client, scope, staff, actor),
    )
    return key


async def get_job(connection: Connection, queue: str, job_id: int, scope_key: str) -> Job | None:
    """The job, if it is this queue's and this scope's."""
    return await _job(
        connection,
        f"select {_JOB_COLUMNS} from plane.get_job(p_queue => %s, p_job_id => %s, p_scope_key =>"
        " %s)",
        (queue, job_id, scope_key),
    )


async def get_results(
    connection: Connection,
    queue: str,
    wanted: Sequence[tuple[int, str]],
    max_bytes: int | None = None,
) -> list[Job]:
    """The jobs of many `(job_id, scope_key)` pairs in one query; those not visible are left out.

    Results come until their bytes reach `max_bytes`, the last one whole; the others are marked as
    `left_out`. None: all of them; 0: none.
    """
    return await rows(
        connection,
        _job_row,
        f"select {_JOB_COLUMNS} from plane.get_results(p_queue => %s, p_job_ids => %s::bigint[],"
        " p_scope_keys => %s::text[], p_max_bytes => %s)",
        (queue, [job_id for job_id, _ in wanted], [key for _, key in wanted], max_bytes),
    )


async def register_waiter(
    connection: Connection,
    queue: str,
    job_id: int,
    scope_key: str,
    waiter: str,
    wait: timedelta,
) -> bool:
    """Note who waits, and for how long; False: no such job for that scope."""
    registered: bool = await value(
        connection,
        "select plane.register_waiter(p_queue => %s, p_job_id => %s, p_scope_key => %s,"
        " p_waiter => %s, p_wait => %s)",
        (queue, job_id, scope_key, waiter, wait),
    )
    return registered


async def register_waiters(
    connection: Connection,
    queue: str,
    waiting: Sequence[tuple[int, str, str]],
    wait: timedelta,
) -> list[Seen]:
    """`register_waiter` for many `(job_id, scope_key, waiter)`; which of them are there."""
    return await rows(
        connection,
        _seen_row,
        "select job_id, scope_key from plane.register_waiters(p_queue => %s, p_job_ids =>"
        " %s::bigint[], p_scope_keys => %s::text[], p_waiters => %s::text[], p_wait => %s)",
        (
            queue,
            [job_id for job_id, _, _ in waiting],
            [scope_key for _, scope_key, _ in waiting],
            [waiter for _, _, waiter in waiting],
            wait,
        ),
    )


async def leave_job(
    connection: Connection, queue: str, job_id: int, scope_key: str, waiter: str
) -> str | None:
    """The job's status once this caller has left it: `cancelled` or `cancelling` where nobody else
    wants it. None: no such job for that scope. Raises Busy: somebody has it in hand, try again.
    """
    status: str | None = await value(
        connection,
        "select plane.leave_job(p_queue => %s, p_job_id => %s, p_scope_key => %s, p_waiter => %s)",
        (queue, job_id, scope_key, waiter),
    )
    return status


async def await_job(connection: Connection, queue: str, job_id: int, scope_key: str) -> Job | None:
    """As `get_job`, past any completion that is under way; call it after `register_waiter`."""
    return await _job(
        connection,
        f"select {_JOB_COLUMNS} from plane.await_job(p_queue => %s, p_job_id => %s, p_scope_key"
        " => %s)",
        (queue, job_id, scope_key),
    )


async def await_jobs(
    connection: Connection,
    queue: str,
    wanted: Sequence[tuple[int, str]],
    max_bytes: int | None = None,
) -> list[Job]:
    """As `get_results`, past any completion that is under way; call it after `register_waiters`."""
    return await rows(
        connection,
        _job_row,
        f"select {_JOB_COLUMNS} from plane.await_jobs(p_queue => %s, p_job_ids => %s::bigint[],"
        " p_scope_keys => %s::text[], p_max_bytes => %s)",
        (queue, [job_id for job_id, _ in wanted], [key for _, key in wanted], max_bytes),
    )


async def ticket_key(connection: Connection) -> bytes:
    """The key (32 bytes) that signs stream tickets, one for all edges of the database."""
    key: bytes = await value(connection, "select plane.ticket_key()", ())
    return key
