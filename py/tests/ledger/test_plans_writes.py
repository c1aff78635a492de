"""What a job writes and what it locks: bytes of WAL from enqueue to done, locks held at commit."""

from collections.abc import Iterator

import psycopg
import pytest

from ..support.costs import ENVELOPE, KEY, quiet_ledger
from ..support.postgres import Server

JOBS = 400
WARM_UP = 100

WAL: dict[str, int] = {
    # a life: bytes of WAL a job, three commits included (34 each, about 100)
    #
    # enqueue: job 150, its index 64, ready 80 and its index 72; claim: a lock and a deletion 54
    # each, lease 110 and two indexes 64 each; complete: deletion 54, outcome 120 and its index 64
    "plain": 1110,
    # beside that the key itself in job 64, live_key: row 64, index 72, deletion 54, and the
    # key in lease
    "keyed": 1510,
}

FAST_PATH = 16
"""Relation locks that a backend takes without the shared lock table, before PostgreSQL 18."""

LOCKS: dict[str, int] = {
    # a call: relation locks until its transaction ends. A table counts with each index that the
    # plan reads, a partitioned one with each partition and its index.
    "enqueue": 8,
    "enqueue keyed": 18,
    "claim_one": 10,
    "claim_one, looking at all": 26,
    "claim(10)": 11,
    "renew_leases": 13,
    "complete_job": 11,
    "complete_jobs": 13,
    "submit_request": 20,
    "submit_request, joining": 28,
    "get_job": 29,
}

Connection = psycopg.Connection[tuple[object, ...]]


@pytest.fixture
def connection(quiet: Server) -> Iterator[Connection]:
    """A session on an empty ledger."""
    with psycopg.connect(quiet_ledger(quiet), autocommit=True) as connection:
        yield connection


@pytest.mark.parametrize("life", WAL)
def test_a_job_writes_no_more_wal_than_its_budget(connection: Connection, life: str) -> None:
    def live(first: int, jobs: int) -> None:
        for n in range(first, first + jobs):
            key = f"{n:064x}" if life == "keyed" else None
            connection.execute(
                """select plane.enqueue('mail', 'send', '{"n": 1}', p_dedupe_key => %s)""", (key,)
            )
            job = one(connection, "select job_id, attempt from plane.claim_one('mail', 'w')")
            assert one(connection, "select plane.complete_job(%s, %s, '{}')", *job) == (True,)

    connection.execute("checkpoint")
    live(0, WARM_UP)
    before = one(connection, "select pg_current_wal_insert_lsn()")
    live(WARM_UP, JOBS)
    (written,) = one(connection, "select pg_current_wal_insert_lsn() - %s::pg_lsn", *before)
    assert float(str(written)) / JOBS <= WAL[life]


def test_a_call_holds_no_more_locks_than_its_budget(connection: Connection) -> None:
    connection.execute("set test.seconds = 0")
    connection.execute(
        """
        select plane.enqueue('mail', 'send', p_dedupe_key => n::text)
        from generate_series(1, 2) as n
        """
    )
    first, second = connection.execute("select * from plane.claim('mail', 'w', 2)").fetchall()
    asked = one(
        connection, "select job_id from plane.submit_request('mail', 'ask', '{}', %s)", ENVELOPE
    )
    calls = {
        "enqueue": "enqueue('mail', 'send')",
        "enqueue keyed": "enqueue('mail', 'send', p_dedupe_key => 'a')",
        "submit_request": f"submit_request('mail', 'ask', '{{\"n\": 1}}', '{ENVELOPE}')",
        "submit_request, joining": (
            f"submit_request('mail', 'ask', '{{}}', '{ENVELOPE}', p_fresh => true)"
        ),
        "claim_one": "claim_one('mail', 'w')",
        "claim(10)": "claim('mail', 'w', 10)",
        "renew_leases": f"renew_leases('w', array[{first[0]}::bigint], array[1])",
        "complete_job": f"complete_job({first[0]}, 1, '{{}}')",
        "complete_jobs": f"complete_jobs(array[{second[0]}::bigint], array[1])",
        "get_job": f"get_job('mail', {asked[0]}, {KEY})",
    }
    held = {name: locks(connection, f"select * from plane.{sql}") for name, sql in calls.items()}
    connection.execute("set test.seconds = 10")
    held["claim_one, looking at all"] = locks(
        connection, f"select * from plane.{calls['claim_one']}"
    )

    assert set(held) == set(LOCKS)
    assert {name: n for name, (n, _) in held.items() if n > LOCKS[name]} == {}
    if connection.info.server_version < 180000:
        shared = {name for name, (_, n) in held.items() if n > 0}
        assert shared == {name for name, n in LOCKS.items() if n > FAST_PATH}


def locks(connection: Connection, sql: str) -> tuple[int, int]:
    """Relation locks held at the end of a call's transaction, and how many of them are shared."""
    # first its plans, which take more
    with connection.transaction(force_rollback=True):
        connection.execute(sql)
    with connection.transaction(), psycopg.connect(connection.info.dsn) as onlooker:
        connection.execute(sql)
        held = onlooker.execute(
            "select count(*), count(*) filter (where not fastpath) from pg_locks"
            " where pid = %s and locktype = 'relation'",
            (connection.info.backend_pid,),
        ).fetchone()
        assert held is not None
        return held


def one(connection: Connection, sql: str, *params: object) -> tuple[object, ...]:
    row = connection.execute(sql, params or None).fetchone()
    assert row is not None
    return row
