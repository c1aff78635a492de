"""Migrate the queue database: yoyo's files and record, in one transaction and with our own checks.

Plain yoyo applies and marks in separate transactions, hashes a migration's name instead of its
content, and keeps its lock in a row that a killed run leaves behind. Here apply, mark, code and
verify commit together or not at all, under a lock that ends with the transaction.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from itertools import takewhile
from typing import Any

import psycopg
from psycopg import Connection, errors

from pgplane.schema.catalog import drift
from pgplane.schema.locks import session_lock, take_turn, until_unlocked
from pgplane.schema.transaction import Change, Transaction, become_owner, note
from pgplane.schema.tree import Migration, MigrationError, Tree

__all__ = [
    "Change",
    "MigrationError",
    "Standing",
    "Status",
    "bootstrap",
    "catch_up",
    "migrate",
    "revert",
    "status",
    "verify",
]


@dataclass(frozen=True)
class Standing:
    """A migration, when it was applied (UTC; None: it was not), and what is odd about it."""

    id: str
    applied_at: datetime | None
    note: str = ""


@dataclass(frozen=True)
class Status:
    """All migrations in order, the loaded code in words, and whether nothing is left to do."""

    migrations: list[Standing]
    code: str
    current: bool


def bootstrap(url: str, tree: Tree | None = None) -> None:
    """Make roles and schemas, as db/bootstrap.sql says; a DBA's login, once per database."""
    text = (tree or Tree.shipped()).bootstrap
    with _connect(url) as connection:
        try:
            connection.execute(text.encode())
        except errors.DuplicateSchema as there:
            raise MigrationError(f"{there.diag.message_primary} in this database") from there
        except errors.InsufficientPrivilege as refused:
            raise MigrationError(
                f"{connection.info.user} may not bootstrap: {refused.diag.message_primary}."
                " It needs CREATEROLE and CREATE on the database, and where another login has"
                " made the roles, to be a superuser or that login"
            ) from refused


def migrate(url: str, tree: Tree | None = None) -> Change:
    """Apply what is pending, load the tree's code where it differs, verify.

    All of it in one transaction, except that a `-- transactional: false` file stands alone: what
    came before it stays if it fails. Raises MigrationError.
    """
    return _proceed(url, tree or Tree.shipped(), _apply_together)


def revert(url: str, to: str, tree: Tree | None = None) -> Change:
    """Roll back every migration after `to`, newest first; `to` is an id or its number, 0 for all.

    The code goes back first: to that of the newest applied release, else to none, because code
    may depend on what the rollbacks drop. Raises MigrationError.
    """
    return _proceed(
        url,
        tree or Tree.shipped(),
        lambda transaction, change: _revert_together(transaction, change, to),
    )


def verify(url: str, tree: Tree | None = None) -> list[str]:
    """What is wrong with the database, one line each; empty when it is as the tree says.

    Loads the code and goes back, to compare: for that moment it locks views and triggers.
    """
    shipped = tree or Tree.shipped()
    with _connect(url) as connection:
        return until_unlocked(lambda: _problems(connection, shipped))


def _problems(connection: Connection[Any], tree: Tree) -> list[str]:
    with connection.transaction(force_rollback=True):
        become_owner(connection)
        transaction = Transaction(connection, tree)
        problems = [f"{m.id} is not applied" for m in transaction.pending()]
        problems += transaction.failed_verifications()
        release, loaded = transaction.loaded()
        if loaded == tree.code().sha256:
            changed = drift(connection, tree.code())
            problems += [f"{name} is not as its file says" for name in changed]
        elif release in tree.releases():
            changed = drift(connection, tree.frozen(release))
            problems += [f"{name} is not as release {release} says" for name in changed]
        else:
            problems.append("the loaded code is not this tree's: run pgplane migrate")
        return problems


def status(url: str, tree: Tree | None = None) -> Status:
    """Which migrations are applied and which code is loaded; changes nothing, waits for nobody."""
    tree = tree or Tree.shipped()
    with _connect(url) as connection, connection.transaction(force_rollback=True):
        become_owner(connection)
        transaction = Transaction(connection, tree, check=False)
        applied = transaction.marked()
        recorded = transaction.recorded()
        standing = [
            Standing(m.id, applied.get(m.id), note(m, recorded.get(m.id)))
            for m in transaction.known.values()
        ]
        unknown = sorted(applied.keys() - transaction.known.keys())
        standing += [Standing(name, applied[name], "not in this tree") for name in unknown]
        release, loaded = transaction.loaded()
        same = loaded == tree.code().sha256
        code = "none" if loaded is None else f"{release or 'working tree'} ({loaded[:12]})"
        if loaded is not None and not same:
            code += ", while this tree has other code"
        clean = all(one.applied_at and not one.note for one in standing)
        return Status(standing, code, clean and same)


def catch_up(connection: Connection[Any], tree: Tree) -> Change:
    """Bring hashes and code in line after plain yoyo applied its files, and verify.

    Runs in the caller's transaction, as plane_owner.
    """
    change = Change()
    Transaction(connection, tree).catch_up(change)
    return change


Together = Callable[[Transaction, Change], "tuple[Migration, str] | None"]
"""Does what one transaction can do; returns what must follow outside of one, if anything."""


def _proceed(url: str, tree: Tree, together: Together) -> Change:
    done = Change()
    with _connect(url) as connection:

        def in_one_transaction() -> tuple[Change, tuple[Migration, str] | None]:
            change = Change()
            with connection.transaction():
                become_owner(connection)
                take_turn(connection)
                alone = together(Transaction(connection, tree), change)
            return change, alone

        while True:
            change, alone = until_unlocked(in_one_transaction)
            done += change
            if alone is None:
                return done
            done += _outside_transaction(connection, tree, *alone)


def _apply_together(transaction: Transaction, change: Change) -> tuple[Migration, str] | None:
    pending = transaction.pending()
    together = list(takewhile(lambda m: m.transactional, pending))
    for migration in together:
        transaction.run(migration, "apply")
        change.applied.append(migration.id)
    if len(together) < len(pending):
        return pending[len(together)], "apply"
    transaction.catch_up(change)
    return None


def _revert_together(
    transaction: Transaction, change: Change, to: str
) -> tuple[Migration, str] | None:
    doomed = transaction.applied_after(to)
    together = list(takewhile(lambda m: m.transactional, doomed))
    if doomed:
        transaction.retire_code(change)
    for migration in together:
        transaction.run(migration, "rollback")
        change.reverted.append(migration.id)
    if len(together) < len(doomed):
        return doomed[len(together)], "rollback"
    return None


def _outside_transaction(
    connection: Connection[Any], tree: Tree, migration: Migration, direction: str
) -> Change:
    """Run a file that PostgreSQL refuses inside a transaction, then record it in one.

    If this process dies in between, the next run runs the file again.
    """
    change = Change()
    with session_lock(connection):
        with connection.transaction(force_rollback=True):
            become_owner(connection)
            transaction = Transaction(connection, tree)
            due = transaction.pending() if direction == "apply" else transaction.applied()
        if migration.id not in [m.id for m in due]:
            return change
        script = migration.path if direction == "apply" else migration.rollback
        try:
            connection.execute("set role plane_owner")
            connection.execute(script.read_bytes())
        except psycopg.Error as failed:
            raise MigrationError(
                f"{migration.id}: {direction} failed outside a transaction: {failed}\n"
                "Drop what it left behind (an invalid index, say) and run this again."
            ) from failed
        finally:
            connection.execute("reset role")
        with connection.transaction():
            become_owner(connection)
            Transaction(connection, tree).mark(migration, direction)
    (change.applied if direction == "apply" else change.reverted).append(migration.id)
    return change


def _connect(url: str) -> Connection[Any]:
    return psycopg.connect(url, autocommit=True, application_name="pgplane migrations")
