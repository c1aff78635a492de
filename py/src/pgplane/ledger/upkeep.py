"""Upkeep: what time does to jobs, and finished work that leaves."""

from psycopg.rows import args_row

from pgplane.ledger.calls import Connection, rows, value
from pgplane.ledger.records import Step

_step_row = args_row(Step)


async def sweep(connection: Connection) -> int:
    """Do what time does (lapsed leases, due rows, …); the number of rows moved."""
    moved: int = await value(connection, "select plane.sweep()", ())
    return moved


async def maintain(connection: Connection) -> list[Step]:
    """Do one step of what keeps the ledger small; none when there is nothing to do.

    It may take many seconds where much stays, and nobody waits for it. Roles: worker, admin.
    """
    return await rows(connection, _step_row, "select step, subject from plane.maintain()", ())


async def reap_blobs(connection: Connection) -> int:
    """Remove bytes of blobs that have expired; the steps it took, 0 when there is nothing to do.

    About 64 MiB at most: for more, call it again. Roles: worker, admin.
    """
    steps: int = await value(connection, "select plane.reap_blobs()", ())
    return steps
