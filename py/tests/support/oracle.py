"""The ledger's own word on whether all is well."""

from typing import Any

import psycopg

BROKEN = "select problem, queue, job_ids, says from plane.health(null) where kind = 'broken'"


def broken(connection: psycopg.Connection) -> list[tuple[Any, ...]]:
    """Every broken promise of the whole ledger; no rows when all is well."""
    return connection.execute(BROKEN).fetchall()
