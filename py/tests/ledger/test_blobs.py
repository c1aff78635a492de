"""What blobs cost: memory of one piece at a time, whatever their size, and look-ups by index."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, closing
from random import Random
from typing import Any

import psycopg
import pytest

from ..support.explain import Explaining, faults

MIB = 1 << 20
KEY = """plane.scope_key('acme', '["north"]', false)"""
ASK = (
    """select job_id from plane.submit_request('mail', 'ask', '{}', '{"client": "acme","""
    """ "actor": "ann", "staff": false, "scope": ["north"]}')"""
)
PUT = "select plane.put_blob(%s, 1, 'a/b', null, %b)"
APPEND = "select plane.append_blob(%s, 1, 1, %b)"
READ = f"select plane.read_blob('mail', %s, 1, {KEY}, %s, %s)"


class Caller:
    """A session with every right, and the memory that its backend has."""

    def __init__(self, url: str) -> None:
        self._connection = psycopg.connect(url, autocommit=True)

    def value(self, sql: str, *params: object) -> Any:
        row = self._connection.execute(sql, params or None).fetchone()
        assert row is not None
        return row[0]

    def transaction(self) -> AbstractContextManager[object]:
        return self._connection.transaction()

    def memory(self) -> int:
        """Bytes that the backend has asked of the system, in between statements."""
        return int(self.value("select sum(total_bytes) from pg_backend_memory_contexts"))

    def close(self) -> None:
        self._connection.close()


@pytest.fixture
def caller(queue_db: str) -> Iterator[Caller]:
    with closing(Caller(queue_db)) as opened:
        opened.value("select plane.create_queue('mail')")
        opened.value(
            """select plane.register_manifest('mail', '[{"name": "ask", "version": 1}]')"""
        )
        yield opened


def test_a_large_blob_is_written_read_and_reaped_in_constant_memory(caller: Caller) -> None:
    size = 64 * MIB
    content = Random(7).randbytes(size)
    job_id = caller.value(ASK)
    assert caller.value("select attempt from plane.claim_one('mail', 'w')") == 1

    with caller.transaction():  # where what is kept for each piece would add up
        caller.value(PUT, job_id, content[:MIB])
        assert caller.value(APPEND, job_id, content[MIB : 2 * MIB]) == 2 * MIB
        before = caller.memory()
        for start in range(2 * MIB, size, MIB):
            caller.value(APPEND, job_id, content[start : start + MIB])
        assert caller.memory() - before < MIB
    assert caller.value("select plane.complete_job(%s, 1, '{}')", job_id)

    # pieces that are read are not those that were written
    assert caller.value(READ, job_id, 0, MIB) == content[:MIB]
    before = caller.memory()
    for start in range(1000, size, 777_777):
        assert caller.value(READ, job_id, start, 777_777) == content[start : start + 777_777]
    assert caller.memory() - before < MIB

    caller.value("update plane.blob set reap_at = 'epoch' returning size")
    caller.value("update plane.queue set blob_retention = '0' returning name")
    before = caller.memory()
    assert caller.value("select plane.reap_blobs()") == 64
    assert caller.memory() - before < MIB
    assert caller.value("select count(*) from plane.blob_chunk") == 0


def test_a_few_bytes_of_a_large_piece_are_read_without_the_rest(caller: Caller) -> None:
    job_id = caller.value(ASK)
    caller.value("select attempt from plane.claim_one('mail', 'w')")
    caller.value(PUT, job_id, bytes(MIB))
    caller.value("select plane.complete_job(%s, 1, '{}')", job_id)
    caller.value(READ, job_id, 0, 1)

    explained = "explain (analyze, buffers, timing off, summary off, format json) " + READ
    plans = [caller.value(explained, job_id, *part) for part in ((MIB // 2, 10), (0, MIB))]
    few, many = (
        plan[0]["Plan"]["Shared Hit Blocks"] + plan[0]["Plan"]["Shared Read Blocks"]
        for plan in plans
    )
    assert few < many - 100, "a piece has 128 pages and more"


@pytest.mark.parametrize("is_analyzed", [False, True])
def test_tables_that_look_empty_are_still_read_by_index(
    caller: Caller, queue_db: str, is_analyzed: bool
) -> None:
    jobs = [caller.value(ASK.replace("'{}'", f"""'{{"n": {n}}}'""")) for n in range(4)]
    caller.value("select count(*) from plane.claim('mail', 'w', 4)")
    if is_analyzed:
        with psycopg.connect(queue_db, autocommit=True) as connection:
            connection.execute("analyze")
    found: set[tuple[str, str]] = set()

    # in a session of its own: a plan that is kept would be the one made for whoever came first
    def call(sql: str, *params: object) -> None:
        with closing(Explaining(queue_db)) as session:
            for statement in session.call(sql, *params).statements:
                if "plane.blob" in statement.text:
                    found.update((sql.partition("(")[0], fault) for fault in faults(statement))

    for job_id in jobs[:2]:
        call("put_blob(%s, 1, 'a/b', null, 'abc')", job_id)
        call("append_blob(%s, 1, 1, 'def')", job_id)
    call("complete_job(%s, 1)", jobs[0])
    call("complete_job(%s, 1, p_blobs_of => %s)", jobs[2], jobs[0])
    call("complete_jobs(%s, array[1], p_blobs_of => %s)", jobs[3:], jobs[2:3])
    call(f"blob_info('mail', %s, 1, {KEY})", jobs[0])
    call(f"read_blob('mail', %s, 1, {KEY}, 2, 2)", jobs[3])
    call("fail_job(%s, 1, '{}')", jobs[1])
    for used_at in ("2100-01-01Z", "1970-01-01Z"):
        caller.value("update plane.blob set reap_at = 'epoch', used_at = %s returning 1", used_at)
        call("reap_blobs()")
    assert caller.value("select count(*) from plane.blob_chunk") == 0
    assert found == set()
