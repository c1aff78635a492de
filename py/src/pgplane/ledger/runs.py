"""Runs: what executions took."""

from datetime import datetime

from pgplane.ledger.calls import Connection, value


async def record_run(
    connection: Connection,
    queue: str,
    worker: str,
    job_id: int,
    attempt: int,
    operation: str,
    outcome: str,
    started_at: datetime,
    *,
    version: int | None = None,
    cache: str | None = None,
    queue_wait_ms: float | None = None,
    wall_ms: float | None = None,
    cpu_ms: float | None = None,
    rss_bytes: int | None = None,
) -> None:
    """Tell what an execution took, once it is over; what is None is not known.

    `outcome`: `done`, `refused`, `pending`, `poison`, `cancelled`, `released`, `lost`, `unsettled`.
    """
    await value(
        connection,
        "select plane.record_run(p_queue => %s, p_worker => %s, p_job_id => %s, p_attempt => %s,"
        " p_operation => %s, p_outcome => %s, p_started_at => %s, p_version => %s, p_cache => %s,"
        " p_queue_wait_ms => %s, p_wall_ms => %s, p_cpu_ms => %s, p_rss_bytes => %s)",
        (
            *(queue, worker, job_id, attempt, operation, outcome, started_at),
            *(version, cache, queue_wait_ms, wall_ms, cpu_ms, rss_bytes),
        ),
    )
