"""Real database sessions, driven step by step, for tests of concurrency.

A test reads as the story it tells:

    s1.begin()
    first = s1.value("select job_id from plane.claim_one('mail', 'w1')")
    s2.start("select …")
    s2.waits_for(s1)
    s1.rollback()
    assert s2.result() == [(first,)]

Nothing sleeps: `run` returns when the server has answered, and `waits_for` asks the server which
sessions stand in the way (`pg_blocking_pids`) until the answer is the expected one.
"""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from time import monotonic
from typing import Any

import psycopg

Row = tuple[Any, ...]

PATIENCE = 20.0
"""Seconds after which a step that did not come true fails the test."""

_LOOK_AGAIN = 0.005

_MOMENT = 0.1
"""Seconds; no function of the ledger waits so long by a timeout of its own and then goes on."""


class Session:
    """One connection; statements run in a thread of their own, so that they may wait."""

    def __init__(self, url: str, observer: psycopg.Connection, name: str) -> None:
        self.name = name
        self._connection = psycopg.connect(url, autocommit=True, application_name=name)
        self._observer = observer
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)
        self._pending: Future[list[Row]] | None = None

    @property
    def pid(self) -> int:
        """The process id of this session's backend."""
        return self._connection.info.backend_pid

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open here, failed or not."""
        return self._connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE

    def run(self, sql: str, *params: Any) -> list[Row]:
        """Run a statement to its end; returns its rows, raises its error."""
        self.start(sql, *params)
        return self.result()

    def row(self, sql: str, *params: Any) -> Row:
        """The only row of a statement."""
        rows = self.run(sql, *params)
        assert len(rows) == 1, f"{self.name}: one row expected, not {rows}"
        return rows[0]

    def value(self, sql: str, *params: Any) -> Any:
        """The first column of a statement's only row."""
        return self.row(sql, *params)[0]

    def start(self, sql: str, *params: Any) -> None:
        """Start a statement and leave it running; `result()` takes its rows."""
        assert self._pending is None, f"{self.name} is still busy with its last statement"
        self._pending = self._thread.submit(self._execute, sql, params)

    def result(self) -> list[Row]:
        """The rows of the statement that was started; raises its error."""
        assert self._pending is not None, f"{self.name} has started nothing"
        if wait([self._pending], timeout=PATIENCE).not_done:
            raise AssertionError(f"{self.name} got no answer: {self._standing()}")
        pending, self._pending = self._pending, None
        return pending.result()

    def waits_for(self, other: "Session") -> None:
        """Assert that the running statement comes to wait for a lock that `other` holds."""
        assert self._pending is not None, f"{self.name} has started nothing"
        until = monotonic() + PATIENCE
        while other.pid not in self._blockers():
            if wait([self._pending], timeout=_LOOK_AGAIN).done:
                raise AssertionError(f"{self.name} did not wait for {other.name}: {self.result()}")
            assert monotonic() < until, f"{self.name} waits, but not for {other.name}"

    def stuck(self) -> set[int]:
        """Whom the running statement waits for, as process ids; empty once it has ended.

        Waits until it is one or the other. A wait that ends by itself in a moment is none.
        """
        assert self._pending is not None, f"{self.name} has started nothing"
        until = monotonic() + PATIENCE
        blockers: set[int] = set()
        while not wait([self._pending], timeout=_MOMENT if blockers else _LOOK_AGAIN).done:
            before, blockers = blockers, set(self._blockers())
            if before & blockers:
                return blockers
            assert monotonic() < until, f"{self.name} neither ends nor waits: {self._standing()}"
        return set()

    def cancel(self) -> None:
        """Ask the server to end the running statement; `result()` then raises, most likely."""
        self._connection.cancel_safe(timeout=PATIENCE)

    def begin(self, isolation: str = "read committed") -> None:
        """Open a transaction."""
        self.run(f"begin isolation level {isolation}")

    def commit(self) -> None:
        """Commit the open transaction."""
        self.run("commit")

    def rollback(self) -> None:
        """Roll the open transaction back."""
        self.run("rollback")

    def close(self) -> None:
        """End the session; a statement that still runs is cancelled first."""
        if self._pending is not None:
            self._connection.cancel_safe(timeout=PATIENCE)
            wait([self._pending], timeout=PATIENCE)
        self._thread.shutdown()
        self._connection.close()

    def _execute(self, sql: str, params: tuple[Any, ...]) -> list[Row]:
        cursor = self._connection.execute(sql, params or None)
        return cursor.fetchall() if cursor.description else []

    def _standing(self) -> Row | None:
        return self._observer.execute(
            "select state, wait_event_type, wait_event, pg_blocking_pids(pid), query"
            " from pg_stat_activity where pid = %s",
            (self.pid,),
        ).fetchone()

    def _blockers(self) -> list[int]:
        row = self._observer.execute("select pg_blocking_pids(%s)", (self.pid,)).fetchone()
        return list(row[0]) if row else []


class Stage:
    """Opens sessions on one database: `worker, rival = stage.enter(as_worker, as_worker)`."""

    def __init__(self, url: str) -> None:
        self._observer = psycopg.connect(url, autocommit=True, application_name="observer")
        self._sessions: list[Session] = []

    def enter(self, *urls: str) -> list[Session]:
        """One session a connection string, named s1, s2, … in the order of entering."""
        entered = []
        for url in urls:
            session = Session(url, self._observer, f"s{len(self._sessions) + 1}")
            self._sessions.append(session)
            entered.append(session)
        return entered

    def look(self, sql: str, *params: Any) -> list[Row]:
        """What an onlooker with every right sees, outside all sessions."""
        cursor = self._observer.execute(sql, params or None)
        return cursor.fetchall() if cursor.description else []

    def close(self) -> None:
        """End all sessions."""
        for session in self._sessions:
            session.close()
        self._observer.close()


@contextmanager
def staged(url: str) -> Iterator[Stage]:
    """A stage on the database at `url` (a superuser's), closed at the end."""
    stage = Stage(url)
    try:
        yield stage
    finally:
        stage.close()
