"""Who may settle a job when several think it is theirs, and what a waiter then sees."""

from collections.abc import Callable

import psycopg
import pytest

from ..support.sessions import Session, Stage
from ..support.steps import (
    A_LONG_TIME,
    COMPLETE,
    RENEW,
    claim,
    complete,
    enqueue,
    later,
    make_queue,
    status,
)


@pytest.fixture(autouse=True)
def mail(stage: Stage) -> None:
    make_queue(stage)


def release(stage: Stage, holder: Session, job_id: int) -> None:
    assert holder.value("select plane.release_job(%s, 1)", job_id)


def lapse(stage: Stage, holder: Session, job_id: int) -> None:
    later(stage, A_LONG_TIME)


def fail(stage: Stage, holder: Session, job_id: int) -> None:
    answer = holder.value("select plane.fail_job(%s, 1, '{}', p_retry_in => '0 s')", job_id)
    assert answer == "pending"


def retry(stage: Stage, holder: Session, job_id: int) -> None:
    assert holder.value("select plane.fail_job(%s, 1, '{}')", job_id) == "poison"
    assert stage.look("select plane.retry_job(%s)", job_id) == [(job_id,)]


def redrive(stage: Stage, holder: Session, job_id: int) -> None:
    assert holder.value("select plane.fail_job(%s, 1, '{}')", job_id) == "poison"
    assert stage.look("select plane.retry_poison('mail')") == [(1,)]


NO_LONGER_HELD = (
    "report_progress(%s, 1, 1, 2, null)",
    "put_blob(%s, 1, 'text/plain', null, 'mine')",
    "append_blob(%s, 1, 1, 'mine')",
)


@pytest.mark.parametrize(
    ("budget", "lose"),
    [(5, release), (5, lapse), (5, fail), (1, retry), (1, redrive)],
    ids=["released", "lapsed", "failed", "retried", "redriven"],
)
def test_an_attempt_that_lost_its_job_can_do_nothing_to_it(
    stage: Stage,
    producers: list[Session],
    workers: list[Session],
    budget: int,
    lose: Callable[[Stage, Session, int], None],
) -> None:
    stage.look("select plane.create_queue('mail', p_max_dequeues => %s)", budget)
    s1, s2 = workers
    job_id = enqueue(producers[0])
    assert claim(s1) == (job_id, 1)
    assert s1.value("select plane.put_blob(%s, 1, 'text/plain', null, 'first')", job_id) == 1
    lose(stage, s1, job_id)
    assert claim(s2) == (job_id, 2)
    assert s2.value("select plane.put_blob(%s, 2, 'text/plain', null, 'second')", job_id)

    assert not complete(s1, job_id, 1, '{"by": "the first"}')
    many = "select completed from plane.complete_jobs(array[%s]::bigint[], array[1])"
    assert not s1.value(many, job_id)
    assert s1.value("select plane.fail_job(%s, 1, '{}')", job_id) == "lost"
    assert not s1.value("select plane.release_job(%s, 1)", job_id)
    assert not s1.value("select plane.finish_cancel(%s, 1)", job_id)
    assert s1.value(RENEW, s1.name, job_id) == "lost"
    for call in NO_LONGER_HELD:
        with pytest.raises(psycopg.Error, match="the attempt no longer holds this job"):
            s1.run(f"select plane.{call}", job_id)
    assert status(stage, job_id) == "in_progress"

    assert complete(s2, job_id, 2, '{"by": "the second"}')
    assert not complete(s1, job_id, 1, '{"by": "the first"}')
    result = stage.look(
        "select result ->> 'by', dequeue_count from plane.jobs where id = %s", job_id
    )
    assert result == [("the second", 2)]


def test_two_completions_of_one_attempt_settle_it_once(
    stage: Stage, producers: list[Session], workers: list[Session]
) -> None:
    s1, s2 = workers
    job_id = enqueue(producers[0])
    claim(s1)

    s1.begin()
    assert complete(s1, job_id, 1, '{"by": "the first"}')
    s2.start(COMPLETE, job_id, 1, '{"by": "the second"}')
    s2.waits_for(s1)
    s1.commit()

    assert s2.result() == [(False,)]
    assert stage.look("select result ->> 'by' from plane.jobs") == [("the first",)]


def test_a_lapsed_lease_goes_to_one_of_two_claimers(
    stage: Stage, producers: list[Session], workers: list[Session], as_worker: str
) -> None:
    s1, s2 = workers
    (dead,) = stage.enter(as_worker)
    job_id = enqueue(producers[0])
    claim(dead)
    later(stage, A_LONG_TIME)

    s1.begin()
    assert claim(s1) == (job_id, 2)
    assert claim(s2) is None
    s1.commit()
    assert claim(s2) is None


def test_a_heartbeat_does_not_wait_for_the_enqueuer_that_joined_the_job(
    producers: list[Session], workers: list[Session]
) -> None:
    producer, worker = producers[0], workers[0]
    job_id = enqueue(producer, "report")
    claim(worker)
    producer.begin()
    enqueue(producer, "report")
    worker.run("set lock_timeout = '1ms'")
    assert worker.value(RENEW, worker.name, job_id) == "held"


def test_a_waiter_that_came_while_the_job_was_being_completed_sees_the_answer(
    stage: Stage, as_edge: str, workers: list[Session]
) -> None:
    stage.look(
        "select plane.register_manifest('mail', "
        """'[{"name": "send", "version": 1, "params": {}, "ttl_seconds": 0, """
        """"timeout_seconds": 10, "per_actor": false}]')"""
    )
    (edge,) = stage.enter(as_edge)
    worker = workers[0]
    envelope = '{"client": "acme", "actor": "ann", "staff": false, "scope": ["north"]}'
    job_id = edge.value(
        "select job_id from plane.submit_request('mail', 'send', '{}', %s::jsonb)", envelope
    )
    key = edge.value("select plane.scope_key('acme', '[\"north\"]', false)")
    claim(worker)

    worker.begin()
    assert complete(worker, job_id, 1, '{"sent": true}')
    wait = "select plane.register_waiter('mail', %s, %s, 'edge-1', '1 min')"
    assert edge.value(wait, job_id, key)
    edge.start("select status, result from plane.await_job('mail', %s, %s)", job_id, key)
    edge.waits_for(worker)
    worker.commit()

    assert edge.result() == [("done", {"sent": True})]
