"""Batches report their progress while heartbeats, cancels and rivals go on."""

import psycopg
import pytest

from ..support.sessions import Session, Stage
from ..support.steps import A_LONG_TIME, RENEW, claim, complete, enqueue, later, make_queue, status

REPORT = "select plane.report_progress(%s, %s, %s, 10, null)"
DONE = "select (progress ->> 'done')::int from plane.jobs where id = %s"


@pytest.fixture(autouse=True)
def mail(stage: Stage) -> None:
    make_queue(stage)


@pytest.fixture
def job_id(producers: list[Session], workers: list[Session]) -> int:
    """A job that the first worker holds."""
    made = enqueue(producers[0])
    assert claim(workers[0]) == (made, 1)
    return made


def test_a_batch_makes_neither_heartbeat_nor_cancel_wait(
    stage: Stage, as_admin: str, workers: list[Session], job_id: int
) -> None:
    batch, heartbeat = workers
    (admin,) = stage.enter(as_admin)
    batch.begin()
    assert batch.value(REPORT, job_id, 1, 5) == "held"
    for session in (heartbeat, admin):
        session.run("set lock_timeout = '1ms'")
    assert heartbeat.value(RENEW, batch.name, job_id) == "held"
    assert admin.value("select plane.request_cancel(%s, 'ann')", job_id) == "cancelling"
    assert heartbeat.value(RENEW, batch.name, job_id) == "cancelling"
    assert batch.value(REPORT, job_id, 1, 6) == "cancelling"
    batch.commit()

    assert stage.look(DONE, job_id) == [(6,)], "what was committed stays"
    assert batch.value("select plane.finish_cancel(%s, 1)", job_id)
    assert status(stage, job_id) == "cancelled"


def test_a_lapsed_attempt_keeps_its_job_until_its_batch_ends(
    stage: Stage, workers: list[Session], job_id: int
) -> None:
    batch, rival = workers
    batch.begin()
    assert batch.value(REPORT, job_id, 1, 5) == "held"
    later(stage, A_LONG_TIME)
    rival.run("set lock_timeout = '1s'")
    assert claim(rival) is None
    assert rival.value("select plane.sweep()") == 0
    batch.commit()

    later(stage, 2 * A_LONG_TIME)
    assert claim(rival) == (job_id, 2)


def test_a_batch_of_a_lost_attempt_cannot_commit(
    stage: Stage, queue_db: str, workers: list[Session], job_id: int
) -> None:
    batch, rival = workers
    stage.look("create table fact (n int)")
    stage.look("grant insert on fact to test_worker")
    later(stage, A_LONG_TIME)
    assert claim(rival) == (job_id, 2)

    batch.begin()
    batch.run("insert into fact values (1)")
    with pytest.raises(psycopg.Error, match="no longer holds") as refused:
        batch.run(REPORT, job_id, 1, 5)
    assert refused.value.sqlstate == "PL409"
    batch.run("commit")
    assert stage.look("select count(*) from fact") == [(0,)]


def test_a_batch_waits_for_a_take_over_and_is_refused_then(
    stage: Stage, workers: list[Session], job_id: int
) -> None:
    batch, rival = workers
    later(stage, A_LONG_TIME)
    rival.begin()
    assert claim(rival) == (job_id, 2)
    batch.start(REPORT, job_id, 1, 5)
    batch.waits_for(rival)
    rival.commit()
    with pytest.raises(psycopg.Error, match="no longer holds"):
        batch.result()


def test_a_batch_that_is_rolled_back_has_reported_nothing(
    stage: Stage, workers: list[Session], job_id: int
) -> None:
    batch = workers[0]
    batch.run(REPORT, job_id, 1, 3)
    batch.begin()
    batch.run(REPORT, job_id, 1, 9)
    assert stage.look(DONE, job_id) == [(3,)]
    batch.rollback()
    assert stage.look(DONE, job_id) == [(3,)]


def test_two_batches_of_one_attempt_do_not_wait_for_each_other(
    stage: Stage, workers: list[Session], job_id: int
) -> None:
    s1, s2 = workers
    s1.run(REPORT, job_id, 1, 1)
    s1.begin()
    s1.run(REPORT, job_id, 1, 2)
    s2.run("set lock_timeout = '1ms'")
    assert s2.value(REPORT, job_id, 1, 3) == "held"
    s1.commit()
    assert stage.look(DONE, job_id) == [(3,)]
    assert complete(s1, job_id, 1)


def test_a_watcher_is_told_a_few_times_a_second_and_of_the_end(
    stage: Stage, queue_db: str, workers: list[Session], job_id: int
) -> None:
    stage.look("select plane.create_queue('mail', p_notify => 'always')")
    with psycopg.connect(queue_db, autocommit=True) as listener:
        listener.execute("listen plane_progress")
        stage.look(
            "create or replace function plane._now() returns timestamptz language sql volatile "
            "return timestamptz '2030-01-01 12:00+00'"
        )
        for done in range(11):
            workers[0].run(REPORT, job_id, 1, done)
        listener.execute("notify plane_progress, 'now'")
        told = []
        for notice in listener.notifies(timeout=5):
            if notice.payload == "now":
                break
            told.append(notice.payload)
    assert told == [str(job_id)] * 2, "the first one and the last one"
