"""Telemetry beside everything else: it waits for nobody, and nobody waits for it."""

import pytest

from ..support.sessions import Session, Stage
from ..support.steps import claim, enqueue, later, make_queue

RECORD = "select plane.record_run('mail', 'w', 1, 1, 'send', 'done', now())"
FORGET = "select plane._forget_runs()"
DAY = 86_400


@pytest.fixture(autouse=True)
def mail(stage: Stage) -> None:
    make_queue(stage)


@pytest.fixture
def owner(stage: Stage, queue_db: str) -> Session:
    """A session with every right."""
    return stage.enter(queue_db)[0]


def test_recording_a_run_locks_nothing_that_a_job_needs(
    stage: Stage, producers: list[Session], workers: list[Session]
) -> None:
    enqueue(producers[0])
    assert claim(workers[0])
    recorder = workers[1]
    recorder.begin()
    recorder.run(RECORD)
    locks = stage.look(
        "select relation::regclass::text, mode from pg_locks l join pg_class c on c.oid = relation"
        " where l.pid = %s and c.relnamespace = 'plane'::regnamespace",
        recorder.pid,
    )
    reads = [relation for relation, mode in locks if mode == "AccessShareLock"]
    writes = [relation for relation, mode in locks if mode != "AccessShareLock"]
    assert {relation.partition("_")[0] for relation in writes} == {"plane.run"}
    assert {relation.partition("_")[0] for relation in reads} <= {"plane.run", "plane.queue"}


def test_an_old_day_goes_while_runs_are_recorded(
    stage: Stage, owner: Session, workers: list[Session]
) -> None:
    workers[0].run(RECORD)
    later(stage, 8 * DAY)
    workers[0].run("set lock_timeout = '1ms'")
    owner.begin()
    assert owner.value(FORGET)
    workers[0].run(RECORD)
    owner.commit()
    assert stage.look("select count(*)::int from plane.worker_runs") == [(1,)]


def test_an_old_day_that_is_being_read_goes_later(
    stage: Stage, as_admin: str, owner: Session, workers: list[Session]
) -> None:
    workers[0].run(RECORD)
    later(stage, 8 * DAY)
    (reader,) = stage.enter(as_admin)
    reader.begin()
    assert reader.value("select count(*)::int from plane.worker_runs") == 1
    owner.begin()
    assert owner.value(FORGET) is False
    assert owner.value("select 1") == 1, "its caller goes on"
    owner.commit()
    reader.commit()
    assert owner.value(FORGET)
    assert stage.look("select count(*)::int from plane.worker_runs") == [(0,)]


@pytest.mark.parametrize(("end", "is_left"), [("commit", False), ("rollback", True)])
def test_two_who_tidy_at_once_do_not_wait_for_each_other(
    stage: Stage, queue_db: str, owner: Session, workers: list[Session], end: str, is_left: bool
) -> None:
    workers[0].run(RECORD)
    later(stage, 8 * DAY)
    (rival,) = stage.enter(queue_db)
    owner.begin()
    assert owner.value(FORGET)
    assert rival.value(FORGET) is False
    owner.run(end)
    assert rival.value(FORGET) is is_left
