"""A worker as a process: what it does to jobs, and what becomes of them when it dies."""

import signal
import time
from collections.abc import Iterator
from statistics import median

import psycopg
import pytest

from ..conftest import ClientDatabase
from ..support.postgres import Server, for_role, install_plane
from ..support.sessions import Stage
from ..support.workers import QUEUE, Worker, running
from .onlooker import Ledger, prepare, until


@pytest.fixture
def worker(ledger: Ledger, as_worker: str, client_db: ClientDatabase) -> Iterator[Worker]:
    with running(as_worker, client_db.reader) as process:
        yield process


def test_a_job_is_answered(ledger: Ledger, worker: Worker) -> None:
    job_id = ledger.enqueue("echo", word="hello")

    assert worker.event("job.started", job_id=job_id)["attempt"] == 1
    assert worker.event("job.finished", job_id=job_id)["outcome"] == "done"
    job = ledger.job(job_id)
    assert (job["status"], job["result"]) == ("done", {"word": "hello", "client": "acme"})


def test_a_notification_wakes_an_idle_worker_at_once(
    ledger: Ledger, as_worker: str, client_db: ClientDatabase
) -> None:
    with running(as_worker, client_db.reader, idle_ms="2000") as worker:
        waits = []
        for _ in range(21):
            job_id = ledger.enqueue("echo", word="hello")
            waits.append(worker.event("job.started", job_id=job_id)["queued_ms"])
            worker.event("job.finished", job_id=job_id)

    assert median(waits) < 100, "two seconds is what polling alone would take"


def test_an_expected_refusal_is_an_answer(ledger: Ledger, worker: Worker) -> None:
    job_id = ledger.enqueue("echo", word="nobody")

    assert worker.event("job.finished", job_id=job_id)["outcome"] == "refused"
    job = ledger.job(job_id)
    assert job["status"] == "done"
    assert job["error"] == {
        "status": 404,
        "code": "NO_SUCH_WORD",
        "message": "there is no such word",
        "word": "nobody",
    }


def test_a_failure_comes_back_until_it_is_poison(ledger: Ledger, worker: Worker) -> None:
    job_id = ledger.enqueue("echo", word="broken")

    for attempt in range(1, 5):
        ended = worker.event("job.finished", job_id=job_id)
        assert (ended["attempt"], ended["outcome"]) == (attempt, "pending")
    assert worker.event("job.finished", job_id=job_id)["outcome"] == "poison"
    assert ledger.job(job_id)["error"] == {
        "code": "FAILED",
        "message": "it broke; password=***",
        "type": "RuntimeError",
    }


def test_a_handler_cannot_write(ledger: Ledger, worker: Worker) -> None:
    job_id = ledger.enqueue("writer")

    worker.event("job.finished", job_id=job_id, outcome="poison")
    error = ledger.job(job_id)["error"]
    assert isinstance(error, dict)
    assert error["code"] == "SQL_25006"


def test_a_connection_that_cannot_be_tidied_is_replaced(
    ledger: Ledger, as_worker: str, client_db: ClientDatabase
) -> None:
    with running(as_worker, client_db.reader, concurrency="1") as worker:
        for operation in ("untidy", "echo"):
            job_id = ledger.enqueue(operation, **({"word": "on"} if operation == "echo" else {}))
            assert worker.event("job.finished", job_id=job_id)["outcome"] == "done"


def test_a_handler_beyond_its_time_is_stopped(ledger: Ledger, worker: Worker) -> None:
    ledger.connection.execute(
        "select plane.create_queue(p_queue => %s, p_max_dequeues => 1)", [QUEUE]
    )
    job_id = ledger.enqueue("impatient")

    assert worker.event("job.finished", job_id=job_id)["outcome"] == "poison"
    assert ledger.job(job_id)["error"] == {
        "code": "TIMEOUT",
        "message": "the handler ran longer than its 1 s",
        "type": "Stopped",
    }


def test_a_killed_workers_job_is_done_by_the_next_attempt(
    ledger: Ledger, as_worker: str, client_db: ClientDatabase
) -> None:
    ledger.set_lease("2 s")
    with running(as_worker, client_db.reader) as first:
        job_id = ledger.held_by(first, "slow", seconds=3)
        with running(as_worker, client_db.reader) as second:
            first.kill()

            started = second.event("job.started", job_id=job_id)
            assert started["attempt"] == 2
            late = ledger.connection.execute(
                "select plane.complete_job(%s, 1, '\"too late\"')", [job_id]
            ).fetchone()
            assert late == (False,)
            assert second.event("job.finished", job_id=job_id)["outcome"] == "done"

    job = ledger.job(job_id)
    assert (job["status"], job["dequeue_count"], job["result"]) == ("done", 2, {"slept": 3.0})


def test_a_frozen_workers_late_completion_is_refused(
    ledger: Ledger, as_worker: str, client_db: ClientDatabase
) -> None:
    ledger.set_lease("2 s")
    with running(as_worker, client_db.reader) as frozen:
        job_id = ledger.held_by(frozen, "slow", seconds=2)
        frozen.process.send_signal(signal.SIGSTOP)
        with running(as_worker, client_db.reader) as other:
            assert other.event("job.finished", job_id=job_id)["outcome"] == "done"
        frozen.process.send_signal(signal.SIGCONT)
        late = frozen.event("job.finished", job_id=job_id)

    assert (late["attempt"], late["outcome"]) == (1, "lost")
    assert ledger.job(job_id)["dequeue_count"] == 2


def test_a_long_job_keeps_its_short_lease(
    ledger: Ledger, as_worker: str, client_db: ClientDatabase
) -> None:
    ledger.set_lease("2 s")
    with running(as_worker, client_db.reader) as holder:
        job_id = ledger.held_by(holder, "slow", seconds=5)
        with running(as_worker, client_db.reader):
            assert holder.event("job.finished", job_id=job_id)["outcome"] == "done"

    assert ledger.job(job_id)["dequeue_count"] == 1


def test_sigterm_lets_running_work_finish(ledger: Ledger, worker: Worker) -> None:
    job_id = ledger.held_by(worker, "slow", seconds=1)

    assert worker.terminate() == 0
    assert worker.event("job.finished", job_id=job_id)["outcome"] == "done"
    worker.event("worker.stopped")


def test_sigterm_gives_back_what_does_not_finish_in_time(
    ledger: Ledger, as_worker: str, client_db: ClientDatabase
) -> None:
    with running(as_worker, client_db.reader, grace_seconds="0") as worker:
        job_id = ledger.held_by(worker, "slow", seconds=50)

        assert worker.terminate() == 0
        assert worker.event("job.finished", job_id=job_id)["outcome"] == "released"

    job = ledger.job(job_id)
    assert job["status"] == "pending"
    assert (job["dequeue_count"], job["max_dequeues"]) == (1, 6), "the try is not spent"


def test_a_handler_that_is_deaf_does_not_keep_the_process(
    ledger: Ledger, as_worker: str, client_db: ClientDatabase
) -> None:
    with running(as_worker, client_db.reader, grace_seconds="0") as worker:
        job_id = ledger.held_by(worker, "deaf", seconds=3600)
        with psycopg.connect(client_db.reader, autocommit=True) as onlooker:
            while not onlooker.execute(
                "select from pg_stat_activity where state = 'idle in transaction'"
                " and query ~ 'deaf from now' and datname = current_database()"
            ).fetchall():
                time.sleep(0.01)

        assert worker.terminate() == 0
        assert worker.event("job.finished", job_id=job_id)["outcome"] == "released"
        worker.event("worker.stopped")
    assert ledger.job(job_id)["status"] == "pending"


def test_a_lost_lease_stops_the_handler_and_its_query(
    ledger: Ledger, worker: Worker, client_db: ClientDatabase
) -> None:
    job_id = ledger.held_by(worker, "slow", seconds=50)

    ledger.connection.execute("select plane.release_job(%s, 1)", [job_id])
    ledger.connection.execute("select pg_notify('plane_cancel', %s)", [str(job_id)])

    assert worker.event("lease.lost", job_id=job_id)["attempt"] == 1
    assert worker.event("job.finished", job_id=job_id, attempt=1)["outcome"] == "lost"
    assert worker.event("job.started", job_id=job_id)["attempt"] == 2
    assert sleeping(client_db) in (0, 1), "the first attempt's query has ended"


def test_a_cancel_stops_the_handler_and_its_query_at_once(
    ledger: Ledger, worker: Worker, client_db: ClientDatabase
) -> None:
    job_id = ledger.held_by(worker, "slow", seconds=50)
    until(lambda: sleeping(client_db) == 1)
    asked_at = time.monotonic()

    (asked,) = ledger.connection.execute(
        "select plane.request_cancel(%s, 'ann')", [job_id]
    ).fetchone() or (None,)

    assert asked == "cancelling"
    assert worker.event("job.cancelling", job_id=job_id)["attempt"] == 1
    assert worker.event("job.finished", job_id=job_id)["outcome"] == "cancelled"
    assert time.monotonic() - asked_at < 5, "a heartbeat alone would take ten seconds"
    until(lambda: sleeping(client_db) == 0)
    job = ledger.job(job_id)
    assert (job["status"], job["error"]) == (
        "cancelled",
        {"code": "CANCELLED", "message": "the job was cancelled", "by": "ann"},
    )


def sleeping(client_db: ClientDatabase) -> int:
    """How many of the client database's queries sleep, as its reader's own sessions show."""
    with psycopg.connect(client_db.reader) as onlooker:
        (count,) = onlooker.execute(
            "select count(*) from pg_stat_activity where state = 'active' and query ~ 'pg_sleep'"
            " and datname = current_database() and pid <> pg_backend_pid()"
        ).fetchone() or (-1,)
    return int(count)


def test_broken_connections_cost_no_job(ledger: Ledger, worker: Worker, stage: Stage) -> None:
    job_id = ledger.held_by(worker, "slow", seconds=1)

    cut = stage.look(
        "select pg_terminate_backend(pid) from pg_stat_activity"
        " where application_name like 'pgplane worker%' and datname = current_database()"
    )

    assert len(cut) >= 2
    assert worker.event("job.finished", job_id=job_id)["outcome"] == "done"
    worker.event("listener.ready")
    again = ledger.enqueue("echo", word="again")
    assert worker.event("job.finished", job_id=again)["outcome"] == "done"


def test_a_job_outlives_a_restart_of_the_queue_database(client_db: ClientDatabase) -> None:
    with Server() as server:
        url = server.database_url("postgres")
        install_plane(url)
        with psycopg.connect(url, autocommit=True) as connection:
            prepare(connection)
            connection.execute("create role restarted_worker login in role plane_worker")
            job_id = Ledger(connection).enqueue("slow", seconds=1)
        with running(for_role(url, "restarted_worker"), client_db.reader) as worker:
            worker.event("job.started", job_id=job_id)
            server.terminate()
            worker.event("listener.lost")
            worker.event("claim.failed")
            server.start()

            ended = worker.event("job.finished", job_id=job_id)
            assert (ended["attempt"], ended["outcome"]) == (1, "done")
            worker.event("listener.ready")
            with psycopg.connect(url, autocommit=True) as connection:
                again = Ledger(connection).enqueue("echo", word="again")
            assert worker.event("job.finished", job_id=again)["outcome"] == "done"
