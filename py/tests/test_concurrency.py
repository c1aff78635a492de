"""What several sessions at once may rely on, told as steps of real sessions.

Time passes here only by `later`, which moves the ledger's clock: nothing sleeps.
"""

from collections.abc import Callable
from typing import Any

import pytest

from .sessions import Session, Stage

CLAIM = "select job_id, attempt from plane.claim_one('mail', %s)"
ENQUEUE = "select job_id, coalesced from plane.enqueue('mail', 'send', p_dedupe_key => %s)"
COMPLETE = "select plane.complete_job(%s, %s, p_result => %s::json)"
STATUS = "select status from plane.jobs where id = %s"


@pytest.fixture(autouse=True)
def mail(stage: Stage) -> None:
    """The queue of these tests; its leases outlive every clock they set."""
    stage.look("select plane.create_queue('mail', p_lease => '1 day', p_notify => 'never')")


@pytest.fixture
def workers(stage: Stage, as_worker: str) -> list[Session]:
    return stage.enter(as_worker, as_worker)


@pytest.fixture
def producers(stage: Stage, as_producer: str) -> list[Session]:
    return stage.enter(as_producer, as_producer)


def enqueue(session: Session, key: str | None = None) -> int:
    job_id: int = session.row(ENQUEUE, key)[0]
    return job_id


def claim(session: Session) -> tuple[Any, ...] | None:
    """The claim's (job id, attempt), or None."""
    rows = session.run(CLAIM, session.name)
    return rows[0] if rows else None


def complete(session: Session, job_id: int, attempt: int, result: str = '{"by": "us"}') -> bool:
    completed: bool = session.value(COMPLETE, job_id, attempt, result)
    return completed


def status(stage: Stage, job_id: int) -> str:
    found: str = stage.look(STATUS, job_id)[0][0]
    return found


def later(stage: Stage, seconds: int) -> None:
    """Let the ledger's clock run ahead of the wall clock by so many seconds, for all sessions."""
    stage.look(
        "create or replace function plane._now() returns timestamptz language sql volatile "
        f"return pg_catalog.clock_timestamp() + interval '{seconds} seconds'"
    )


# Claims ---------------------------------------------------------------------------------------


def test_the_first_job_of_a_fresh_install_is_claimed(
    producers: list[Session], workers: list[Session]
) -> None:
    job_id = enqueue(producers[0])
    assert claim(workers[0]) == (job_id, 1)


def test_the_first_job_of_a_fresh_install_is_claimed_by_workers_that_came_long_before(
    stage: Stage, producers: list[Session], workers: list[Session]
) -> None:
    for seconds in range(1, 6):
        later(stage, 2 * seconds)
        assert claim(workers[0]) is None
    job_id = enqueue(producers[0])
    assert claim(workers[0]) == (job_id, 1)


def test_a_claim_skips_what_an_open_claim_holds(
    producers: list[Session], workers: list[Session]
) -> None:
    first, second = enqueue(producers[0]), enqueue(producers[0])
    s1, s2 = workers

    s1.begin()
    assert claim(s1) == (first, 1)
    assert claim(s2) == (second, 1)
    assert claim(s2) is None
    s1.rollback()

    assert claim(s2) == (first, 1)


def test_a_claim_that_was_rolled_back_is_not_passed_over_when_time_goes_by(
    stage: Stage, producers: list[Session], workers: list[Session]
) -> None:
    first = enqueue(producers[0])
    others = [enqueue(producers[0]) for _ in range(4)]
    s1, s2 = workers

    s1.begin()
    assert claim(s1) == (first, 1)
    for seconds, other in enumerate(others, start=1):
        later(stage, 2 * seconds)
        assert claim(s2) == (other, 1)
    for seconds in range(5, 9):
        later(stage, 2 * seconds)
        assert claim(s2) is None
    s1.rollback()

    assert claim(s2) == (first, 1)


def test_a_job_that_commits_late_is_not_passed_over(
    stage: Stage, producers: list[Session], workers: list[Session]
) -> None:
    early, prompt = producers
    worker = workers[0]

    early.begin()
    late = enqueue(early)
    at_once = enqueue(prompt)
    assert late < at_once
    assert claim(worker) == (at_once, 1)
    for seconds in range(1, 6):
        later(stage, 2 * seconds)
        assert claim(worker) is None
    early.commit()

    assert claim(worker) == (late, 1)


def test_a_job_of_a_prepared_transaction_is_not_passed_over(
    stage: Stage, producers: list[Session], workers: list[Session]
) -> None:
    early, prompt = producers
    worker = workers[0]

    early.begin()
    late = enqueue(early)
    early.run("prepare transaction 'late'")
    try:
        at_once = enqueue(prompt)
        assert claim(worker) == (at_once, 1)
        for seconds in range(1, 6):
            later(stage, 2 * seconds)
            assert claim(worker) is None
    finally:
        early.run("commit prepared 'late'")

    assert claim(worker) == (late, 1)


def test_an_open_reader_does_not_keep_jobs_from_being_claimed(
    stage: Stage, queue_db: str, producers: list[Session], workers: list[Session]
) -> None:
    (reader,) = stage.enter(queue_db)
    reader.begin("repeatable read")
    reader.run("select count(*) from plane.jobs")

    for seconds in range(1, 4):
        later(stage, 2 * seconds)
        job_id = enqueue(producers[0])
        assert claim(workers[0]) == (job_id, 1)


def test_a_floor_that_somebody_else_set_loses_no_job(
    stage: Stage, producers: list[Session], workers: list[Session]
) -> None:
    """The scan floor is a custom setting, so any pooled caller can overwrite it."""
    worker = workers[0]
    assert claim(worker) is None
    ((setting, mark),) = stage.look(
        "select 'plane.floors_' || id, '{now}|{now}|1||{{900000000,900000000}}' from plane.queue"
    )
    now = worker.value("select (extract(epoch from plane_now) * 1000)::bigint from now() plane_now")
    worker.run("select set_config(%s, %s, false)", setting, mark.format(now=now))
    job_id = enqueue(producers[0])

    later(stage, 120)

    assert claim(worker) == (job_id, 1)


def test_a_heartbeat_in_time_wins_over_a_sweep(
    stage: Stage, producers: list[Session], workers: list[Session]
) -> None:
    holder, sweeper = workers
    job_id = enqueue(producers[0])
    claim(holder)
    later(stage, 2 * 86_400)
    renew = "select state from plane.renew_leases(%s, array[%s]::bigint[], array[1])"

    holder.begin()
    assert holder.value(renew, holder.name, job_id) == "held"
    assert sweeper.value("select plane.sweep()") == 0
    holder.commit()

    assert sweeper.value("select plane.sweep()") == 0
    assert claim(sweeper) is None
    assert complete(holder, job_id, 1)


# Dedupe keys ----------------------------------------------------------------------------------


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


# The fence ------------------------------------------------------------------------------------


def release(stage: Stage, holder: Session, job_id: int) -> None:
    assert holder.value("select plane.release_job(%s, 1)", job_id)


def lapse(stage: Stage, holder: Session, job_id: int) -> None:
    later(stage, 2 * 86_400)


def fail(stage: Stage, holder: Session, job_id: int) -> None:
    answer = holder.value("select plane.fail_job(%s, 1, '{}', p_retry_in => '0 s')", job_id)
    assert answer == "pending"


@pytest.mark.parametrize("lose", [release, lapse, fail], ids=["released", "lapsed", "failed"])
def test_an_attempt_that_lost_its_job_can_do_nothing_to_it(
    stage: Stage,
    producers: list[Session],
    workers: list[Session],
    lose: Callable[[Stage, Session, int], None],
) -> None:
    s1, s2 = workers
    job_id = enqueue(producers[0])
    assert claim(s1) == (job_id, 1)
    lose(stage, s1, job_id)
    assert claim(s2) == (job_id, 2)

    assert not complete(s1, job_id, 1, '{"by": "the first"}')
    assert s1.value("select plane.fail_job(%s, 1, '{}')", job_id) == "lost"
    assert not s1.value("select plane.release_job(%s, 1)", job_id)
    renew = "select state from plane.renew_leases(%s, array[%s]::bigint[], array[1])"
    assert s1.value(renew, s1.name, job_id) == "lost"
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
    later(stage, 2 * 86_400)

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
    renew = "select job_id, state from plane.renew_leases(%s, array[%s]::bigint[], array[1])"
    assert worker.row(renew, worker.name, job_id) == (job_id, "held")


# Waiters --------------------------------------------------------------------------------------


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
    wait = "select plane.register_waiter('mail', %s, %s, 'edge-1', now() + interval '1 min')"
    assert edge.value(wait, job_id, key)
    edge.start("select status, result from plane.await_job('mail', %s, %s)", job_id, key)
    edge.waits_for(worker)
    worker.commit()

    assert edge.result() == [("done", {"sent": True})]


# The key of tickets ----------------------------------------------------------------------------


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
