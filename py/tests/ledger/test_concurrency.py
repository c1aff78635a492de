"""Claims of several sessions at once, told as steps of real sessions.

Time passes here only by `later`, which moves the ledger's clock: nothing sleeps.
"""

import pytest

from ..support.sessions import Session, Stage
from ..support.steps import (
    A_LONG_TIME,
    RENEW,
    claim,
    complete,
    enqueue,
    later,
    make_queue,
)


@pytest.fixture(autouse=True)
def mail(stage: Stage) -> None:
    make_queue(stage)


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
    worker.run(
        """
        select set_config('plane.floors_1', hashtext(note) || '#' || note, false)
        from floor(extract(epoch from now()) * 1000) as now (ms),
            concat('{900000000,900000000}|', ms, '|0|1|') as note
        """
    )
    job_id = enqueue(producers[0])

    later(stage, 120)

    assert claim(worker) == (job_id, 1)


def test_a_heartbeat_in_time_wins_over_a_sweep(
    stage: Stage, producers: list[Session], workers: list[Session]
) -> None:
    holder, sweeper = workers
    job_id = enqueue(producers[0])
    claim(holder)
    later(stage, A_LONG_TIME)

    holder.begin()
    assert holder.value(RENEW, holder.name, job_id) == "held"
    assert sweeper.value("select plane.sweep()") == 0
    holder.commit()

    assert sweeper.value("select plane.sweep()") == 0
    assert claim(sweeper) is None
    assert complete(holder, job_id, 1)
