"""Locks: one migration of a database at a time, and none that blocks it for long."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from psycopg import Connection, errors

from pgplane.schema.tree import MigrationError

T = TypeVar("T")

TURN = "hashtext('pgplane migrations')"
"""The advisory lock of whose turn it is, in SQL."""

LOCK_SECONDS = 3
"""How long a statement waits for a lock before it lets everybody behind it through."""
LOCK_ATTEMPTS = 5
TURN_SECONDS = 120
"""How long to wait for another migration of the same database."""


def take_turn(connection: Connection[Any]) -> None:
    """As plane_owner, wait until no other migration of this database runs, yoyo's included.

    The turn ends with the transaction.
    """
    connection.execute(f"set local lock_timeout = '{TURN_SECONDS}s'")
    try:
        connection.execute(f"select pg_advisory_xact_lock({TURN})")
    except errors.LockNotAvailable as busy:
        raise MigrationError(
            f"another migration of this database runs for over {TURN_SECONDS} s: see "
            "pg_stat_activity, application_name 'pgplane migrations'"
        ) from busy
    connection.execute(f"set local lock_timeout = '{LOCK_SECONDS}s'")
    connection.execute("lock table plane_meta.yoyo_lock in share row exclusive mode")
    held = connection.execute("select pid, ctime from plane_meta.yoyo_lock").fetchone()
    if held:
        raise MigrationError(
            f"plain yoyo (process {held[0]}) holds the lock since {held[1]} UTC: wait for it, "
            "or run `yoyo break-lock` if it was killed"
        )


@contextmanager
def session_lock(connection: Connection[Any]) -> Iterator[None]:
    """The same turn, held across transactions; it ends with the session at the latest."""
    connection.execute(f"select pg_advisory_lock({TURN})")
    try:
        yield
    finally:
        connection.execute(f"select pg_advisory_unlock({TURN})")


def until_unlocked(attempt: Callable[[], T]) -> T:
    """Try again, after longer and longer pauses, while somebody holds a lock that is needed."""
    for number in range(LOCK_ATTEMPTS):
        try:
            return attempt()
        except errors.LockNotAvailable as blocked:
            if number == LOCK_ATTEMPTS - 1:
                raise MigrationError(
                    f"a lock was not to be had in {LOCK_ATTEMPTS} tries of {LOCK_SECONDS} s: "
                    f"end the long transaction that holds it ({blocked})"
                ) from blocked
            time.sleep(2**number)
    raise AssertionError
