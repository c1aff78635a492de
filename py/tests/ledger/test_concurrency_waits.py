"""Who waits for whom: claims, sweeps and heartbeats wait for no application's open transaction."""

import threading
from typing import Any

import psycopg
import pytest

from ..support.sessions import Session, Stage

CLAIM = "select job_id, attempt from plane.claim_one('mail', %s)"


@pytest.fixture(autouse=True)
def mail(stage: Stage) -> None:
    """The queue of these tests, which tells only those who wait."""
    stage.look("select plane.create_queue('mail', p_lease => '1 day', p_notify => 'waiters')")


def enqueue(session: Session, serial_key: str | None = None, after: int = 0) -> int:
    job_id: int = session.value(
        "select job_id from plane.enqueue('mail', 'send', p_serial_key => %s, p_available_at =>"
        " case when %s > 0 then clock_timestamp() + make_interval(secs => %s) end)",
        serial_key,
        after,
        after,
    )
    return job_id


def claim(session: Session) -> tuple[Any, ...] | None:
    """The claim's (job id, attempt), or None; fails where it would have to wait."""
    session.run("set lock_timeout = '1s'")
    rows = session.run(CLAIM, session.name)
    return rows[0] if rows else None


def later(stage: Stage, seconds: int) -> None:
    """Let the ledger's clock run ahead of the wall clock by so many seconds, for all sessions."""
    stage.look(
        "create or replace function plane._now() returns timestamptz language sql volatile "
        f"return pg_catalog.clock_timestamp() + interval '{seconds} seconds'"
    )


@pytest.mark.parametrize("opens", [True, False], ids=["opens the line", "ends the head"])
def test_a_claim_waits_for_nobody_when_a_scheduled_job_joins_its_line(
    stage: Stage, as_producer: str, as_worker: str, opens: bool
) -> None:
    application, producer = stage.enter(as_producer, as_producer)
    holder, worker = stage.enter(as_worker, as_worker)
    scheduled = enqueue(producer, "red", after=60)
    if opens:
        application.begin()
        head = enqueue(application, "red")
    else:
        head = enqueue(application, "red")
        assert claim(holder) == (head, 1)
        holder.begin()
        assert holder.value("select plane.complete_job(%s, 1)", head)
    other = enqueue(producer)
    later(stage, 120)

    assert claim(worker) == (other, 1)
    assert claim(worker) is None
    (application if opens else holder).commit()
    later(stage, 180)

    if opens:
        assert claim(worker) == (head, 1)
        assert worker.value("select plane.complete_job(%s, 1)", head)
    assert claim(worker) == (scheduled, 1)


def test_sweeps_that_meet_in_many_lines_do_not_deadlock(
    stage: Stage, as_producer: str, as_worker: str
) -> None:
    (producer,) = stage.enter(as_producer)
    with psycopg.connect(as_producer, autocommit=True) as connection:
        connection.cursor().executemany(
            "select plane.enqueue('mail', 'send', p_serial_key => %s,"
            " p_available_at => clock_timestamp() + interval '1 hour')",
            [(f"line {n * n % 307}",) for n in range(1_500)],
        )
    later(stage, 7_200)
    errors: list[psycopg.Error] = []

    def keep_sweeping() -> None:
        with psycopg.connect(as_worker, autocommit=True) as connection:
            for turn in range(30):
                try:
                    connection.execute("select plane.sweep(%s)", (5 + turn,))
                except psycopg.Error as error:
                    errors.append(error)

    sweepers = [threading.Thread(target=keep_sweeping) for _ in range(8)]
    for sweeper in sweepers:
        sweeper.start()
    for sweeper in sweepers:
        sweeper.join()
    assert errors == []

    later(stage, 14_400)
    producer.run("select plane.sweep()")
    assert stage.look(
        "select count(*) filter (where status = 'pending'), count(*) from plane.jobs"
    ) == [(154, 1_500)]


def test_a_line_that_cannot_be_handed_on_yet_costs_claims_nothing(
    stage: Stage, as_producer: str, as_worker: str
) -> None:
    (application,) = stage.enter(as_producer)
    (worker,) = stage.enter(as_worker)
    head = enqueue(application, "red")
    assert claim(worker) == (head, 1)
    application.begin()
    behind = enqueue(application, "red")
    assert worker.value("select plane.complete_job(%s, 1)", head)

    ((note,),) = stage.look("select ctid::text from plane.stalled_line")
    for _ in range(3):
        assert claim(worker) is None
    assert stage.look("select ctid::text from plane.stalled_line") == [(note,)]
    application.commit()

    assert claim(worker) == (behind, 1)


def test_a_heartbeat_does_not_wait_for_an_open_claim_of_its_worker(
    stage: Stage, as_producer: str, as_worker: str
) -> None:
    (producer,) = stage.enter(as_producer)
    s1, s2 = stage.enter(as_worker, as_worker)
    register = "select plane.register_worker('w', 'mail')"
    take = "select job_id, attempt from plane.claim_one('mail', 'w')"
    s1.run(register)
    assert s1.run(take) == []
    first, second = enqueue(producer), enqueue(producer)

    s1.begin()
    assert s1.run(take) == [(first, 1)]
    s2.run("set lock_timeout = '1s'")
    assert s2.run("select * from plane.renew_leases('w', '{}', '{}')") == []
    assert s2.run(take) == [(second, 1)]


def test_a_completion_by_an_older_snapshot_misses_no_waiter(
    stage: Stage, queue_db: str, as_edge: str, as_worker: str
) -> None:
    stage.look("""select plane.register_manifest('mail', '[{"name": "send", "version": 1}]')""")
    (edge,) = stage.enter(as_edge)
    (worker,) = stage.enter(as_worker)
    job_id = edge.value(
        "select job_id from plane.submit_request('mail', 'send', '{}',"
        """ '{"client": "acme", "actor": "ann", "staff": false, "scope": ["north"]}')"""
    )
    key = edge.value("select plane.scope_key('acme', '[\"north\"]', false)")
    assert claim(worker) == (job_id, 1)

    worker.begin("repeatable read")
    worker.run("select 1")
    edge.run(
        "select plane.register_waiter('mail', %s, %s, 'edge-1', '1 min')",
        job_id,
        key,
    )
    with psycopg.connect(queue_db, autocommit=True) as listener:
        listener.execute("listen plane_done")
        assert worker.value("select plane.complete_job(%s, 1)", job_id)
        worker.commit()
        told = list(listener.notifies(timeout=5, stop_after=1))
    assert [notice.payload for notice in told] == [str(job_id)]
