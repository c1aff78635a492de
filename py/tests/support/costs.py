"""What calls of the ledger touch, in pages, at moments that the test chooses.

The clock stands in a setting of the session: it costs no page, and what a claim does only now and
then (look at time, move its scan floor) it does when it is told that the time has come.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from statistics import median
from uuid import uuid4

import psycopg

from .explain import Explaining, Statement, Told
from .postgres import Server, install_plane

ENVELOPE = '{"client": "acme", "actor": "ann", "staff": false, "scope": ["north"]}'
KEY = """plane.scope_key('acme', '["north"]', false)"""

WARM_UP = 6
ROUNDS = 12
"""The first rounds read the catalog and make plans; only the others are counted."""


_numbers = count(1)


def quiet_ledger(server: Server) -> str:
    """A ledger in a database of its own: a queue, its one operation and its worker."""
    name = f"quiet_{next(_numbers)}"
    with psycopg.connect(server.database_url("postgres"), autocommit=True) as connection:
        known = connection.execute("select from pg_database where datname = 'quiet'").fetchone()
        if known is None:
            connection.execute("create database quiet")
            _prepare(server.database_url("quiet"))
        connection.execute(f"create database {name} template quiet")
    return server.database_url(name)


def _prepare(url: str) -> None:
    install_plane(url)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("create extension pageinspect")
        connection.execute(
            """
            create or replace function plane._now() returns timestamptz language sql volatile
            return case
                when pg_catalog.current_setting('test.seconds', true) <> '' then
                    timestamptz '2030-01-01 00:00Z'
                        + pg_catalog.current_setting('test.seconds')::float8 * interval '1 second'
                else pg_catalog.clock_timestamp()
            end
            """
        )
        connection.execute(
            "select plane.create_queue('mail', p_lease => '7 days', p_notify => 'waiters')"
        )
        connection.execute(
            """select plane.register_manifest('mail', '[{"name": "ask", "version": 1}]')"""
        )
        connection.execute("select plane.register_worker('w', 'mail')")


class Timed(Explaining):
    """A session with a clock of its own."""

    def __init__(self, url: str, *, nested: bool = True) -> None:
        super().__init__(url, nested=nested)
        self._seconds = 0.0
        self.later(0)

    def later(self, seconds: float) -> None:
        """So much time goes by."""
        self._seconds += seconds
        self.connection.execute(f"set test.seconds = {self._seconds}")

    def held(self) -> tuple[int, int]:
        """A job that is claimed now: its id and its attempt."""
        row = self.call("claim_one('mail', 'w')").rows[0]
        return row[0], row[1]


@dataclass
class Figures:
    """Each call by its name: what it touched in each round, and its statements in all of them."""

    seen: dict[str, list[Told]] = field(default_factory=dict)

    def note(self, name: str, told: Told) -> Told:
        self.seen.setdefault(name, []).append(told)
        return told

    def pages(self, name: str) -> float:
        """Pages touched by the call, in the median of the rounds that count."""
        return median(told.pages for told in self.seen[name][WARM_UP:])

    def parts(self, name: str) -> str:
        """Which statements of the call touched them, in its last round."""
        return "\n".join(
            f"{pages(statement):6} {' '.join(statement.text.split())[:100]}"
            for statement in self.seen[name][-1].statements
            if pages(statement)
        )

    def statements(self) -> list[tuple[str, Statement]]:
        """Every statement of every call, with the call's name."""
        return [
            (name, statement)
            for name, calls in self.seen.items()
            for told in calls
            for statement in told.statements
        ]


def pages(statement: Statement) -> int:
    """Pages that a statement touched, those within it included."""
    touched: int = statement.plan["Shared Hit Blocks"] + statement.plan["Shared Read Blocks"]
    return touched


def measure(url: str) -> Figures:
    """Go through the calls of the hot path on the queue `mail`, round by round."""
    figures = Figures()
    session = Timed(url)

    def call(name: str, sql: str, *params: object) -> Told:
        return figures.note(name, session.call(sql, *params))

    for _ in range(ROUNDS):
        _single(session, call)
        _batched(session, call)
    session.close()
    return figures


def _single(session: Timed, call: Callable[..., Told]) -> None:
    key = str(uuid4())
    call("enqueue", "enqueue('mail', 'send')")
    call("enqueue keyed", "enqueue('mail', 'send', p_dedupe_key => %s)", key)
    call("coalesce", "enqueue('mail', 'send', p_dedupe_key => %s)", key)
    call("enqueue serial", "enqueue('mail', 'send', p_serial_key => 'red')")
    call("schedule", "enqueue('mail', 'send', p_available_at => '2100-01-01T00:00Z')")
    params = json.dumps({"question": key})
    asked = call("submit_request", "submit_request('mail', 'ask', %s, %s)", params, ENVELOPE)
    other = ENVELOPE.replace("ann", "bob")
    call("submit_request, joining", "submit_request('mail', 'ask', %s, %s)", params, other)
    waiting = f"{asked.rows[0][0]}, {KEY}, plane.scope_key('acme', '[\"north\"]', false, 'bob')"
    call("register_waiter", f"register_waiter('mail', {waiting}, '5 min')")
    call("leave_job", f"leave_job('mail', {waiting})")
    call("get_job pending", f"get_job('mail', %s, {KEY})", asked.rows[0][0])

    job = call("claim_one", "claim_one('mail', 'w')").rows[0][:2]
    call("renew_leases", "renew_leases('w', array[%s]::bigint[], array[%s]::int[])", *job)
    call("complete_job", "complete_job(%s, %s, '{}')", *job)
    call("get_job done", f"get_job('mail', %s, {KEY})", job[0])
    call("fail_job", "fail_job(%s, %s, '{}', '1 day')", *session.held())
    call("release_job", "release_job(%s, %s)", *session.held())
    call("report_progress", "report_progress(%s, %s, 1, 2, null)", *session.held())

    # something is left to claim on an empty ledger too
    for _ in range(3):
        session.call("enqueue('mail', 'send')")
    session.later(0.2)
    call("claim_one, looking at time", "claim_one('mail', 'w')")
    session.later(1)
    call("claim_one, moving its floor", "claim_one('mail', 'w')")
    session.later(10)
    call("claim_one, looking at all", "claim_one('mail', 'w')")


def _batched(session: Timed, call: Callable[..., Told]) -> None:
    jobs = json.dumps([{"operation": "send", "params": {"n": n}} for n in range(100)])
    call("enqueue_many(100)", "enqueue_many('mail', %s)", jobs)
    claimed = call("claim(100)", "claim('mail', 'w', 100)").rows
    assert len(claimed) == 100
    ids, attempts = [row[0] for row in claimed], [row[1] for row in claimed]
    call("renew_leases(100)", "renew_leases('w', %s::bigint[], %s::int[])", ids, attempts)
    call("complete_jobs(100)", "complete_jobs(%s::bigint[], %s::int[])", ids, attempts)
    call("sweep", "sweep()")
