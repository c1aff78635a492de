"""A worker process that answers with much: memory, cancels, death, and who may read it."""

import json
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from ..conftest import ClientDatabase
from ..support.processes import Process
from ..support.workers import ENVELOPE, QUEUE
from .exports import ROW_BYTES, exporting
from .onlooker import Ledger, until

MIB = 1024 * 1024


@pytest.fixture
def worker(ledger: Ledger, as_worker: str, client_db: ClientDatabase) -> Iterator[Process]:
    with exporting(as_worker, client_db.reader) as process:
        yield process


def ask(ledger: Ledger, operation: str, **params: object) -> int:
    """What a caller asks, so that there is a scope that may read the answer."""
    row = ledger.connection.execute(
        "select job_id from plane.submit_request(%s, %s, %s::jsonb, %s::jsonb)",
        [QUEUE, operation, json.dumps(params), ENVELOPE],
    ).fetchone()
    assert row is not None
    return int(row[0])


def read(ledger: Ledger, job_id: int, ref: dict[str, Any]) -> bytes:
    """A blob that a result names, as a caller of its scope reads it."""
    about = ref["blobRef"]
    content = b""
    while len(content) < about["size"]:
        row = ledger.connection.execute(
            "select plane.read_blob(%s, %s, %s, plane.scope_key('acme', %s, false), %s, %s)",
            [QUEUE, job_id, about["blob"], '["EWR"]', len(content), MIB],
        ).fetchone()
        assert row is not None
        assert row[0], "it ends before its size"
        content += row[0]
    return content


def result(ledger: Ledger, job_id: int) -> Any:
    job = ledger.job(job_id)
    assert (job["status"], job["error"]) == ("done", None)
    return job["result"]


def test_a_table_is_exported_and_read_by_its_caller(ledger: Ledger, worker: Process) -> None:
    job_id = ask(ledger, "table", rows=2000)

    assert worker.event("job.finished", job_id=job_id)["outcome"] == "done"
    answer = result(ledger, job_id)
    assert answer["rows"] == 2000
    assert answer["file"] == {
        "blobRef": {
            "blob": 1,
            "contentType": "text/csv; charset=utf-8; header=present",
            "filename": "table.csv",
            "size": len("line\n") + 2000 * ROW_BYTES,
        }
    }
    lines = read(ledger, job_id, answer["file"]).decode().split("\n")
    assert lines[0] == "line"
    assert lines[1:-1] == [str(n).ljust(ROW_BYTES - 1, ".") for n in range(1, 2001)]


def test_a_large_result_is_a_blob_with_every_digit(ledger: Ledger, worker: Process) -> None:
    job_id = ask(ledger, "wide", rows=3000)

    assert worker.event("job.finished", job_id=job_id)["outcome"] == "done"
    ref = result(ledger, job_id)
    assert ref["blobRef"]["whole"] is True
    assert ref["blobRef"]["contentType"] == "application/json"
    text = read(ledger, job_id, ref)
    assert text.startswith(b'{"id":9007199254740993,')
    assert len(json.loads(text)["rows"]) == 3000

    again = ask(ledger, "wide", rows=3000)
    assert worker.event("job.finished", job_id=again)["cache"] == "hit"
    assert read(ledger, again, result(ledger, again)) == text


def test_the_cache_keeps_as_many_bytes_as_it_is_told(
    ledger: Ledger, as_worker: str, client_db: ClientDatabase
) -> None:
    with exporting(as_worker, client_db.reader, cache_bytes="100000") as worker:
        for rows, cache in ((1, "hit"), (200, None)):
            for expected in (None, cache):
                job_id = ask(ledger, "wide", rows=rows)
                assert worker.event("job.finished", job_id=job_id)["cache"] == expected


def test_an_export_takes_little_memory_whatever_its_size(ledger: Ledger, worker: Process) -> None:
    ask(ledger, "table", rows=4000)
    worker.event("job.finished", operation="table")
    before = worker.peak_bytes()
    job_id = ask(ledger, "table", rows=80_000)

    assert worker.event("job.finished", job_id=job_id)["outcome"] == "done"
    assert result(ledger, job_id)["file"]["blobRef"]["size"] > 76 * MIB
    assert worker.peak_bytes() - before < 24 * MIB


def test_a_cancel_stops_an_export_and_its_query(
    ledger: Ledger, worker: Process, client_db: ClientDatabase
) -> None:
    job_id = ask(ledger, "trickle")
    until(lambda: copying(client_db) == 1)

    ledger.connection.execute("select plane.request_cancel(%s, 'ann')", [job_id])

    assert worker.event("job.finished", job_id=job_id)["outcome"] == "cancelled"
    until(lambda: copying(client_db) == 0)
    assert ledger.job(job_id)["status"] == "cancelled"
    after = ask(ledger, "table", rows=1)
    assert worker.event("job.finished", job_id=after)["outcome"] == "done"


def copying(client_db: ClientDatabase) -> int:
    """How many queries of the client database are a COPY, as its reader's own sessions show."""
    with psycopg.connect(client_db.reader) as onlooker:
        (count,) = onlooker.execute(
            "select count(*) from pg_stat_activity where state = 'active' and query ~ '^copy '"
            " and datname = current_database() and pid <> pg_backend_pid()"
        ).fetchone() or (-1,)
    return int(count)


def test_a_cancel_reaches_a_blob_whose_write_waits(
    ledger: Ledger, worker: Process, queue_db: str
) -> None:
    job_id = ask(ledger, "endless")
    until(lambda: seen(ledger, "select from plane.blob where job_id = %s", job_id))
    with psycopg.connect(queue_db) as holder:
        holder.execute("select from plane.blob where job_id = %s for update", [job_id])
        until(lambda: writing(ledger, "wait_event_type = 'Lock'"))

        ledger.connection.execute("select plane.request_cancel(%s, 'ann')", [job_id])

        assert worker.event("job.finished", job_id=job_id)["outcome"] == "cancelled"
        until(lambda: not writing(ledger, "state = 'active'"))
    after = ask(ledger, "table", rows=1)
    assert worker.event("job.finished", job_id=after)["outcome"] == "done"


def seen(ledger: Ledger, statement: str, *values: object) -> bool:
    return ledger.connection.execute(statement.encode(), values).fetchone() is not None


def writing(ledger: Ledger, how: str) -> bool:
    """Whether the worker's connection for blobs is at it, in this way."""
    return seen(
        ledger,
        "select from pg_stat_activity where application_name = 'pgplane worker output'"
        f" and datname = current_database() and {how}",
    )


def test_of_a_killed_worker_nothing_is_read_but_by_the_next_attempt(
    ledger: Ledger, as_worker: str, client_db: ClientDatabase
) -> None:
    ledger.set_lease("2 s")
    with psycopg.connect(client_db.owner, autocommit=True) as owner:
        owner.execute("create table pause (seconds float)")
        owner.execute("insert into pause values (3600)")
        with exporting(as_worker, client_db.reader) as first:
            job_id = ask(ledger, "signed")
            written = "select from plane.jobs where id = %s and progress ->> 'message' = 'written'"
            until(lambda: seen(ledger, written, job_id))
            with pytest.raises(psycopg.Error, match="no such blob"):
                read(ledger, job_id, {"blobRef": {"blob": 1, "size": 1}})
            owner.execute("update pause set seconds = 0")
            first.kill()
        with exporting(as_worker, client_db.reader) as second:
            ended = second.event("job.finished", job_id=job_id)
            assert (ended["attempt"], ended["outcome"]) == (2, "done")
            content = read(ledger, job_id, result(ledger, job_id))
            assert content == str(second.process.pid).encode()


# Telemetry ---------------------------------------------------------------------------------------


def runs(ledger: Ledger) -> list[tuple[Any, ...]]:
    return ledger.connection.execute(
        "select job_id, operation, outcome from plane.worker_runs order by job_id"
    ).fetchall()


def test_each_job_leaves_its_run_and_a_dead_webhook_disturbs_nothing(
    ledger: Ledger, as_worker: str, client_db: ClientDatabase
) -> None:
    nobody = "http://127.0.0.1:1/worker/job-finished?key=hunter2"
    with exporting(as_worker, client_db.reader, telemetry_url=nobody) as worker:
        jobs = [ask(ledger, "table", rows=n) for n in range(1, 6)]
        for job_id in jobs:
            assert worker.event("job.finished", job_id=job_id)["outcome"] == "done"
        assert worker.event("telemetry.lost")["to"] == "webhook"
        assert worker.terminate() == 0
    assert runs(ledger) == [(job_id, "table", "done") for job_id in jobs]
    assert "hunter2" not in "".join(worker.said)


def test_a_ledger_that_takes_no_telemetry_gets_its_jobs_done(
    ledger: Ledger, as_worker: str, client_db: ClientDatabase
) -> None:
    ledger.connection.execute(
        "do $$ begin execute (select 'revoke execute on function ' || oid::regprocedure"
        " || ' from plane_worker' from pg_proc where proname = 'record_run'); end $$"
    )
    with exporting(as_worker, client_db.reader) as worker:
        jobs = [ask(ledger, "table", rows=n) for n in range(1, 6)]
        for job_id in jobs:
            assert worker.event("job.finished", job_id=job_id)["outcome"] == "done"
        assert worker.event("telemetry.lost")["to"] == "ledger"
        assert worker.terminate() == 0
    assert runs(ledger) == []
