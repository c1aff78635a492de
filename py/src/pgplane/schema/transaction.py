"""One transaction of a migration: what is applied in the database, and how it is recorded."""

import glob
import platform
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Self

import psycopg
from psycopg import Connection, errors
from yoyo import read_migrations
from yoyo.backends.core.postgresql import PostgresqlPsycopgBackend

from pgplane.schema import locks
from pgplane.schema.catalog import Name, load
from pgplane.schema.tree import Migration, MigrationError, Tree


@dataclass
class Change:
    """What a run did: migration ids in order, and what became of the code.

    `loaded` is the hash of the code that was loaded last, if any was; `dropped` what it no longer
    has or could not replace.
    """

    applied: list[str] = field(default_factory=list)
    reverted: list[str] = field(default_factory=list)
    loaded: str | None = None
    dropped: list[Name] = field(default_factory=list)

    def __iadd__(self, later: "Change") -> Self:
        self.applied += later.applied
        self.reverted += later.reverted
        self.loaded = later.loaded or self.loaded
        self.dropped += later.dropped
        return self


class Backend(PostgresqlPsycopgBackend):  # type: ignore[misc]
    """yoyo's backend on a connection, and inside a transaction, of ours."""

    def __init__(self, connection: Connection[Any]) -> None:
        self._given = connection
        super().__init__("", "_yoyo_migration")
        self._in_transaction = True
        self._internal_schema_updated = True

    def connect(self, dburi: str) -> Connection[Any]:
        return self._given

    def get_log_data(self, migration: Any = None, operation: str = "apply") -> dict[str, Any]:
        # yoyo asks the operating system who runs it, which a container need not know.
        return {
            "id": str(uuid.uuid4()),
            "migration_id": migration.id,
            "migration_hash": migration.hash,
            "username": self._given.info.user,
            "hostname": platform.node(),
            "created_at_utc": datetime.now(UTC).replace(tzinfo=None),
            "operation": operation,
        }


class Transaction:
    """One transaction's view of tree and database, as plane_owner.

    Unless `check` is false, refuses a database that is ahead of the tree, and an applied file that
    was changed.
    """

    def __init__(self, connection: Connection[Any], tree: Tree, *, check: bool = True) -> None:
        self.connection = connection
        self.tree = tree
        self.known = {migration.id: migration for migration in tree.migrations()}
        self._backend = Backend(connection)
        source = read_migrations(glob.escape(str(tree.root / "migrations")))
        self._yoyo = {migration.id: migration for migration in source}
        self._todo = [migration.id for migration in self._backend.to_apply(source)]
        if check:
            self._refuse_what_does_not_fit()

    def _refuse_what_does_not_fit(self) -> None:
        for name in self.marked():
            if name not in self.known:
                raise MigrationError(f"{name} is applied but unknown here: use a newer pgplane")
        recorded = self.recorded()
        for migration in self.applied():
            if note(migration, recorded.get(migration.id)):
                raise MigrationError(
                    f"{migration.id} was changed after it was applied: put its files back and "
                    "write a new migration (one that was never released may instead be reverted "
                    "with its old files)"
                )

    def applied(self) -> list[Migration]:
        """In the order of the tree."""
        return [m for m in self.known.values() if m.id not in self._todo]

    def applied_after(self, to: str) -> list[Migration]:
        """The applied migrations after the one of that id or number, newest first; 0 is before all.

        Raises MigrationError when none is called so.
        """
        applied = self.applied()
        if to and not to.strip("0"):
            return applied[::-1]
        for position, migration in enumerate(applied, start=1):
            if to in (migration.id, migration.id[:4]):
                return applied[position:][::-1]
        there = ", ".join(m.id for m in applied) or "none"
        raise MigrationError(f"no applied migration is called {to!r}; applied: {there}")

    def pending(self) -> list[Migration]:
        return [self.known[name] for name in self._todo]

    def marked(self) -> dict[str, datetime]:
        """Migration id -> when it was applied (UTC, without zone), as yoyo knows it."""
        rows = self.connection.execute(
            "select migration_id, applied_at_utc from plane_meta._yoyo_migration"
        )
        return dict(rows)

    def recorded(self) -> dict[str, str]:
        """Migration id -> hash of its files when it was applied."""
        rows = self.connection.execute("select migration_id, sha256 from plane_meta.migration")
        return dict(rows)

    def loaded(self) -> tuple[str | None, str | None]:
        """(release, hash) of the loaded code; release None is a working tree, hash None no code."""
        row = self.connection.execute("select release, sha256 from plane_meta.code").fetchone()
        return row or (None, None)

    def run(self, migration: Migration, direction: str) -> None:
        """Apply or roll back one migration and record it."""
        try:
            self._yoyo[migration.id].process_steps(self._backend, direction)
        except errors.LockNotAvailable:
            raise
        except psycopg.Error as failed:
            raise MigrationError(f"{migration.id}: {direction} failed: {failed}") from failed
        self.mark(migration, direction)

    def mark(self, migration: Migration, direction: str) -> None:
        """Record that a migration was applied or rolled back."""
        yoyo = self._yoyo[migration.id]
        if direction == "apply":
            self._backend.mark_one(yoyo, log=False)
            self._record(migration)
            self._todo.remove(migration.id)
        else:
            self._backend.unmark_one(yoyo, log=False)
            self.connection.execute(
                "delete from plane_meta.migration where migration_id = %s", [migration.id]
            )
            self._todo.append(migration.id)
        self._backend.log_migration(yoyo, direction)

    def _record(self, migration: Migration) -> None:
        self.connection.execute(
            "insert into plane_meta.migration (migration_id, sha256) values (%s, %s)",
            [migration.id, migration.sha256],
        )

    def catch_up(self, change: Change) -> None:
        """Record what plain yoyo applied, load the tree's code where it differs, verify."""
        recorded = self.recorded()
        for migration in self.applied():
            if migration.id not in recorded:
                self._record(migration)
        code = self.tree.code()
        if self.loaded()[1] != code.sha256:
            change.dropped = load(self.connection, code)
            change.loaded = code.sha256
        if problems := self.failed_verifications():
            raise MigrationError("\n".join(problems))

    def retire_code(self, change: Change) -> None:
        """Load the code of the newest applied release, or none, ahead of rollbacks."""
        released = [m.release for m in self.applied() if m.release]
        code = self.tree.frozen(released[-1]) if released else None
        if self.loaded()[1] != (code.sha256 if code else None):
            change.dropped = load(self.connection, code)
            change.loaded = code.sha256 if code else None

    def failed_verifications(self) -> list[str]:
        """Run the verify script of every applied migration; one line for each that raised."""
        problems = []
        for migration in self.applied():
            if migration.release is None:
                try:
                    with self.connection.transaction(force_rollback=True):
                        self.connection.execute(migration.verify.read_bytes())
                except psycopg.Error as failed:
                    problems.append(f"verify of {migration.id} failed: {failed}")
        return problems


def note(migration: Migration, recorded: str | None) -> str:
    """What is odd about an applied migration, given the hash on record; '' when nothing is."""
    return "changed after it was applied" if recorded not in {None, migration.sha256} else ""


def become_owner(connection: Connection[Any]) -> None:
    """Act as plane_owner until the transaction ends; raises MigrationError where that cannot be.

    SET LOCAL only: a pooler in transaction mode keeps nothing of it.
    """
    try:
        connection.execute("set local role plane_owner")
        there = connection.execute("select to_regclass('plane_meta.code')").fetchone()
    except errors.InvalidParameterValue:
        there = None
    except errors.InsufficientPrivilege as refused:
        login = connection.info.user
        raise MigrationError(
            f"{login} may not migrate: grant plane_migrator to {login}"
        ) from refused
    if there is None or there[0] is None:
        raise MigrationError("this database has no pgplane yet: a DBA runs db/bootstrap.sql first")
    connection.execute("set local search_path = plane_meta")
    connection.execute(f"set local lock_timeout = '{locks.LOCK_SECONDS}s'")
    connection.execute("set local statement_timeout = 0")
    connection.execute("set local client_min_messages = warning")
