"""A queue is dropped, or its poison redriven, while others use it."""

import psycopg
import pytest

from ..support.sessions import Session, Stage
from ..support.steps import CLAIM, ENQUEUE, claim, complete, enqueue, make_queue, status

DROP = "select plane.drop_queue('mail')"
ENQUEUE_MANY = """select job_id from plane.enqueue_many('mail', '[{"operation": "send"}]')"""


@pytest.fixture(autouse=True)
def mail(stage: Stage) -> None:
    make_queue(stage)


@pytest.fixture
def admins(stage: Stage, as_admin: str) -> list[Session]:
    """Two sessions of an admin."""
    return stage.enter(as_admin, as_admin)


def poison(stage: Stage, producer: Session, worker: Session, key: str | None = None) -> int:
    stage.look("select plane.create_queue('mail', p_max_dequeues => 1)")
    job_id = enqueue(producer, key)
    assert claim(worker) == (job_id, 1)
    assert worker.value("select plane.fail_job(%s, 1, '{}')", job_id) == "poison"
    return job_id


def test_a_queue_is_not_dropped_under_an_open_enqueue(
    stage: Stage, producers: list[Session], workers: list[Session], admins: list[Session]
) -> None:
    producer, admin = producers[0], admins[0]
    producer.begin()
    job_id = enqueue(producer)
    with pytest.raises(psycopg.errors.LockNotAvailable):
        admin.run(DROP)
    producer.commit()
    with pytest.raises(psycopg.Error, match="the queue has live jobs"):
        admin.run(DROP)
    assert claim(workers[0]) == (job_id, 1)
    assert complete(workers[0], job_id, 1)
    admin.run(DROP)
    assert stage.look("select count(*) from plane.job") == [(0,)]


def test_a_job_that_ends_during_a_drop_that_is_given_up_keeps_no_key(
    stage: Stage, producers: list[Session], workers: list[Session], admins: list[Session]
) -> None:
    producer, worker, admin = producers[0], workers[0], admins[0]
    ended = enqueue(producer, "a")
    stage.look("select plane.request_cancel(%s, 'ann')", ended)
    job_id = enqueue(producer, "b")
    assert claim(worker) == (job_id, 1)
    # as if it had come just after the drop looked for live jobs
    stage.look(
        "create or replace function plane._check_idle(p_queue plane.queue) returns void"
        " language sql as ''"
    )
    admin.begin()
    admin.run(DROP)
    assert complete(worker, job_id, 1)
    admin.rollback()
    assert stage.look("select count(*) from plane.live_key") == [(0,)]
    assert stage.look("select id from plane.job order by id") == [(ended,), (job_id,)]


@pytest.mark.parametrize(
    "ask",
    [
        ENQUEUE_MANY,
        "select plane.enqueue('mail', 'send')",
        "select plane.enqueue('mail', 'send', p_priority => 7)",
    ],
)
@pytest.mark.parametrize("committed", [True, False], ids=["committed", "rolled back"])
def test_an_enqueue_during_a_drop_is_refused_or_made(
    stage: Stage, producers: list[Session], admins: list[Session], ask: str, committed: bool
) -> None:
    producer, admin = producers[0], admins[0]
    producer.run(ask)
    stage.look("select plane.request_cancel(id, 'ann') from plane.jobs")
    admin.begin()
    admin.run(DROP)
    producer.start(ask)
    producer.waits_for(admin)
    admin.run("commit" if committed else "rollback")

    if committed:
        with pytest.raises(psycopg.Error, match="no such queue") as refused:
            producer.result()
        assert refused.value.sqlstate == "PL404"
        assert stage.look("select count(*) from plane.job") == [(0,)]
    else:
        assert producer.result()
        assert stage.look("select count(*) from plane.ready") == [(1,)]


@pytest.mark.parametrize(
    "ask",
    [
        "select plane.register_worker('w', 'mail')",
        """select plane.register_manifest('mail', '[{"name": "send", "version": 1}]')""",
    ],
)
def test_a_worker_that_registers_during_a_drop_is_told_that_there_is_no_queue(
    stage: Stage, workers: list[Session], admins: list[Session], ask: str
) -> None:
    worker, admin = workers[0], admins[0]
    admin.begin()
    admin.run(DROP)
    worker.start(ask)
    worker.waits_for(admin)
    admin.commit()
    with pytest.raises(psycopg.Error, match="no such queue") as refused:
        worker.result()
    assert refused.value.sqlstate == "PL404"


def test_a_cancel_ends_when_the_job_leaves_with_its_queue(
    stage: Stage,
    producers: list[Session],
    workers: list[Session],
    admins: list[Session],
    queue_db: str,
) -> None:
    admin, (owner,) = admins[0], stage.enter(queue_db)
    job_id = enqueue(producers[0])
    claim(workers[0])
    owner.begin()
    assert complete(owner, job_id, 1)
    owner.run(DROP)
    admin.start("select plane.request_cancel(%s, 'ann')", job_id)
    admin.waits_for(owner)
    owner.commit()
    with pytest.raises(psycopg.Error, match="no such job") as refused:
        admin.result()
    assert refused.value.sqlstate == "PL404"


def test_an_enqueue_by_an_older_snapshot_is_refused_once_the_queue_is_gone(
    stage: Stage, producers: list[Session], admins: list[Session]
) -> None:
    producer = producers[0]
    producer.begin("repeatable read")
    producer.run("select 1")
    admins[0].run(DROP)
    with pytest.raises(psycopg.errors.SerializationFailure):
        producer.run(ENQUEUE, None)
    producer.rollback()
    assert stage.look("select count(*) from plane.job") == [(0,)]


def test_a_resumed_queue_wakes_its_workers(
    stage: Stage, queue_db: str, workers: list[Session], admins: list[Session]
) -> None:
    stage.look("select plane.create_queue('mail', p_notify => 'waiters')")
    workers[0].run("select plane.register_worker(%s, 'mail')", workers[0].name)
    admins[0].run("select plane.pause_queue('mail')")
    assert workers[0].run(CLAIM, workers[0].name) == []
    with psycopg.connect(queue_db, autocommit=True) as listener:
        listener.execute("listen plane_ready")
        for _ in range(2):
            admins[0].run("select plane.resume_queue('mail')")
        listener.execute("notify plane_ready, 'now'")
        told = [notice.payload for notice in listener.notifies(timeout=5, stop_after=2)]
    assert told == ["mail", "now"]


def test_two_retries_of_one_job_are_one(
    stage: Stage, producers: list[Session], workers: list[Session], admins: list[Session]
) -> None:
    s1, s2 = admins
    job_id = poison(stage, producers[0], workers[0])
    s1.begin()
    assert s1.value("select plane.retry_job(%s)", job_id) == job_id
    assert s2.value("select plane.retry_poison('mail')") == 0, "it is left to the first"
    s2.start("select plane.retry_job(%s)", job_id)
    s2.waits_for(s1)
    s1.commit()
    with pytest.raises(psycopg.Error, match="only a poison job can be retried"):
        s2.result()
    assert claim(workers[0]) == (job_id, 2)
    assert claim(workers[1]) is None


@pytest.mark.parametrize("committed", [True, False], ids=["committed", "rolled back"])
def test_a_retry_waits_for_whoever_asks_the_same_question(
    stage: Stage,
    producers: list[Session],
    workers: list[Session],
    admins: list[Session],
    committed: bool,
) -> None:
    producer, admin = producers[0], admins[0]
    old = poison(stage, producer, workers[0], "key")
    producer.begin()
    new = enqueue(producer, "key")
    admin.start("select plane.retry_job(%s)", old)
    admin.waits_for(producer)
    producer.run("commit" if committed else "rollback")

    assert admin.result() == [(new if committed else old,)]
    assert status(stage, old) == ("poison" if committed else "pending")
    assert producer.row(ENQUEUE, "key") == (new if committed else old, True)


def test_who_asks_the_same_question_waits_for_a_retry(
    stage: Stage, producers: list[Session], workers: list[Session], admins: list[Session]
) -> None:
    old = poison(stage, producers[0], workers[0], "key")
    admins[0].begin()
    assert admins[0].value("select plane.retry_job(%s)", old) == old
    producers[0].start(ENQUEUE, "key")
    producers[0].waits_for(admins[0])
    admins[0].commit()
    assert producers[0].result() == [(old, True)]
