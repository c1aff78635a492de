"""Queues: their settings, their workers and their operations."""

from datetime import timedelta

from psycopg.rows import args_row

from pgplane.ledger.calls import Connection, rows, value
from pgplane.ledger.records import ManifestEntry

_operation_row = args_row(ManifestEntry)


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
    poison_retention: timedelta | None = None,
    max_depth: int | None = None,
    notify: str | None = None,
) -> None:
    """Create a queue or alter the settings given; `max_depth=0` lifts the limit. Role: admin."""
    await value(
        connection,
        "select plane.create_queue(p_queue => %s, p_lease => %s, p_max_dequeues => %s,"
        " p_backoff => %s, p_backoff_factor => %s::numeric, p_backoff_cap => %s, p_retention =>"
        " %s, p_poison_retention => %s, p_max_depth => %s, p_notify => %s)",
        (
            *(queue, lease, max_dequeues, backoff, backoff_factor, backoff_cap),
            *(retention, poison_retention, max_depth, notify),
        ),
    )


async def pause_queue(connection: Connection, queue: str) -> None:
    """Hand out no more of its jobs; it still accepts. Role: admin. Raises NotFound."""
    await value(connection, "select plane.pause_queue(p_queue => %s)", (queue,))


async def resume_queue(connection: Connection, queue: str) -> None:
    """Hand out again, and wake the workers. Role: admin. Raises NotFound."""
    await value(connection, "select plane.resume_queue(p_queue => %s)", (queue,))


async def drop_queue(connection: Connection, queue: str) -> None:
    """Remove a queue and all it has finished. Role: admin. Raises NotFound, Conflict: live jobs,
    Busy: somebody is enqueuing, try again."""
    await value(connection, "select plane.drop_queue(p_queue => %s)", (queue,))


async def register_worker(
    connection: Connection, worker: str, queue: str, info: str = "{}"
) -> timedelta:
    """Announce a worker; the answer is its queue's lease. Raises NotFound: no such queue."""
    lease: timedelta = await value(
        connection,
        "select plane.register_worker(p_worker => %s, p_queue => %s, p_info => %s::jsonb)",
        (worker, queue, info),
    )
    return lease


async def register_manifest(connection: Connection, queue: str, operations: str) -> None:
    """Announce a surface's operations (a JSON array); older versions stay."""
    await value(
        connection,
        "select plane.register_manifest(p_queue => %s, p_operations => %s::jsonb)",
        (queue, operations),
    )


async def get_manifest(connection: Connection, queue: str) -> list[ManifestEntry]:
    """A surface's operations, every version of each, the newest last. Raises NotFound, NotReady:
    none of its workers has come yet."""
    return await rows(
        connection,
        _operation_row,
        "select name, version, params_schema, ttl_seconds, timeout_seconds, per_actor from"
        " plane.get_manifest(p_queue => %s)",
        (queue,),
    )
