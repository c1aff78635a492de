"""Dedupe keys, and the key of tickets, wanted by several sessions at once."""

import pytest

from ..support.sessions import Session, Stage
from ..support.steps import (
    ENQUEUE,
    claim,
    complete,
    enqueue,
    make_queue,
    status,
)

MANIFEST = """select plane.register_manifest('mail', '[{"name": "ask", "version": 1}]')"""
SUBMIT = (
    "select job_id, coalesced from plane.submit_request('mail', 'ask', '{}',"
    """ '{"client": "acme", "actor": "ann", "staff": false, "scope": ["north"]}',"""
    " p_fresh => %s)"
)


@pytest.fixture(autouse=True)
def mail(stage: Stage) -> None:
    make_queue(stage)


def test_an_enqueue_takes_the_job_of_an_open_enqueuer_once_that_commits(
    producers: list[Session],
) -> None:
    s1, s2 = producers
    s1.begin()
    job_id = enqueue(s1, "report")
    s2.start(ENQUEUE, "report")
    s2.waits_for(s1)
    s1.commit()
    assert s2.result() == [(job_id, True)]


def test_an_enqueue_has_its_own_job_when_the_open_enqueuer_rolls_back(
    stage: Stage, producers: list[Session]
) -> None:
    s1, s2 = producers
    s1.begin()
    lost = enqueue(s1, "report")
    s2.start(ENQUEUE, "report")
    s2.waits_for(s1)
    s1.rollback()
    ((job_id, coalesced),) = s2.result()

    assert (job_id != lost, coalesced) == (True, False)
    assert stage.look("select id from plane.jobs") == [(job_id,)]


def test_different_keys_do_not_wait_for_each_other(producers: list[Session]) -> None:
    s1, s2 = producers
    s1.begin()
    enqueue(s1, "report")
    s2.run("set lock_timeout = '1ms'")
    assert s2.row(ENQUEUE, "another report")[1] is False


def test_a_lock_timeout_of_the_caller_is_the_only_way_out_of_waiting(
    stage: Stage, producers: list[Session]
) -> None:
    s1, s2 = producers
    s1.begin()
    job_id = enqueue(s1, "report")
    s2.run("set lock_timeout = '1ms'")
    with pytest.raises(Exception, match="lock timeout") as refused:
        s2.run(ENQUEUE, "report")
    assert getattr(refused.value, "sqlstate", None) == "55P03"
    s1.commit()
    assert s2.row(ENQUEUE, "report") == (job_id, True)


@pytest.mark.parametrize("committed", [True, False], ids=["committed", "rolled back"])
def test_an_enqueue_while_its_key_is_being_completed_has_a_job_it_can_count_on(
    stage: Stage, producers: list[Session], workers: list[Session], committed: bool
) -> None:
    producer, worker = producers[0], workers[0]
    first = enqueue(producer, "report")
    claim(worker)

    worker.begin()
    assert complete(worker, first, 1)
    joined = enqueue(producer, "report")
    worker.run("commit" if committed else "rollback")

    assert status(stage, joined) == ("done" if committed else "in_progress")
    assert (enqueue(producer, "report") == first) is not committed


def test_a_completion_does_not_wait_for_an_enqueuer_that_joined_the_job(
    stage: Stage, producers: list[Session], workers: list[Session]
) -> None:
    producer, worker = producers[0], workers[0]
    job_id = enqueue(producer, "report")
    claim(worker)

    producer.begin()
    assert producer.row(ENQUEUE, "report") == (job_id, True)
    worker.run("set lock_timeout = '1ms'")
    assert complete(worker, job_id, 1)
    producer.commit()

    assert status(stage, job_id) == "done"


def test_a_claim_does_not_wait_for_an_enqueuer_that_joined_the_job(
    producers: list[Session], workers: list[Session]
) -> None:
    producer, worker = producers[0], workers[0]
    job_id = enqueue(producer, "report")

    producer.begin()
    assert producer.row(ENQUEUE, "report") == (job_id, True)
    worker.run("set lock_timeout = '1ms'")
    assert claim(worker) == (job_id, 1)


@pytest.mark.parametrize("ends", ["commit", "rollback"])
def test_a_fresh_request_joins_a_fresh_job_that_is_just_being_claimed(
    stage: Stage, producers: list[Session], workers: list[Session], ends: str
) -> None:
    asker, worker = producers[0], workers[0]
    stage.look(MANIFEST)
    job_id, _ = asker.row(SUBMIT, True)
    worker.begin()
    assert claim(worker) == (job_id, 1)
    asker.run("set lock_timeout = '1ms'")
    assert asker.row(SUBMIT, True) == (job_id, True)
    getattr(worker, ends)()
    assert asker.row(SUBMIT, True) == (job_id, True)


@pytest.mark.parametrize("taken", [True, False], ids=["commits", "rolls back"])
def test_a_fresh_request_that_takes_a_key_over_makes_no_completion_wait(
    stage: Stage, producers: list[Session], workers: list[Session], taken: bool
) -> None:
    stage.look(MANIFEST)
    ((key,),) = stage.look(
        "select plane.dedupe_key('mail', 'ask', 1, 'acme',"
        """ plane.scope_key('acme', '["north"]', false), '{}')"""
    )
    fresh, other = producers
    worker = workers[0]
    stale = fresh.row(SUBMIT, False)[0]
    assert claim(worker) == (stale, 1)

    fresh.begin()
    job_id, coalesced = fresh.row(SUBMIT, True)
    assert not coalesced
    worker.run("set lock_timeout = '1ms'")
    assert complete(worker, stale, 1)
    # its key is the fresh one's, if that commits
    other.start(ENQUEUE, key)
    other.waits_for(fresh)
    if taken:
        fresh.commit()
        assert other.result() == [(job_id, True)]
    else:
        fresh.rollback()
        ((own, coalesced),) = other.result()
        assert own not in (stale, job_id)
        assert not coalesced
    assert stage.look("select count(*) from plane.jobs where status = 'pending'") == [(1,)]


def test_a_left_over_key_is_not_taken_from_a_job_that_is_just_being_retried(
    stage: Stage, queue_db: str, producers: list[Session], workers: list[Session]
) -> None:
    stage.look("select plane.create_queue('mail', p_max_dequeues => 1)")
    asker = producers[0]
    taker, admin = stage.enter(queue_db, queue_db)
    job_id = enqueue(asker, "report")
    assert claim(workers[0]) == (job_id, 1)
    taker.begin()
    taker.run("select from plane.live_key for update")
    workers[0].run("select plane.fail_job(%s, 1, '{}')", job_id)
    taker.rollback()

    # the asker has seen the left-over key, and is about to delete it
    admin.begin()
    admin.run("lock table plane.live_key in exclusive mode")
    asker.start(ENQUEUE, "report")
    asker.waits_for(admin)
    assert admin.value("select plane.retry_job(%s)", job_id) == job_id
    admin.commit()
    assert asker.result() == [(job_id, True)]


@pytest.mark.parametrize("committed", [True, False], ids=["committed", "rolled back"])
def test_two_edges_that_start_at_once_have_one_ticket_key(
    stage: Stage, as_reader: str, committed: bool
) -> None:
    s1, s2 = stage.enter(as_reader, as_reader)
    s1.begin()
    first = s1.value("select plane.ticket_key()")
    s2.start("select plane.ticket_key()")
    s2.waits_for(s1)
    s1.run("commit" if committed else "rollback")
    ((second,),) = s2.result()

    assert (second == first) is committed
    assert s1.value("select plane.ticket_key()") == second
