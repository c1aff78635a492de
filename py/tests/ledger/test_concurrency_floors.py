"""The proof behind the scan floors: no job is passed over, whoever stays open and however it ends.

Every few seconds a session looks at everything, whatever its floors say; these stories are over
before that look, so it is the proof that finds the job.
"""

import pytest

from ..support.sessions import Session, Stage
from ..support.steps import A_LONG_TIME, CLAIM, claim, complete, enqueue, make_queue, stand_at

BEFORE_THE_NEXT_WHOLE_LOOK = (1, 2, 3, 4)
"""Seconds: a floor moves at each."""


@pytest.fixture(autouse=True)
def mail(stage: Stage) -> None:
    stand_at(stage, 0)
    make_queue(stage)


def finds_nothing(stage: Stage, worker: Session, since: int = 0) -> None:
    """A worker finds nothing at any moment, and moves its floors as far as they go."""
    for seconds in BEFORE_THE_NEXT_WHOLE_LOOK:
        if worker.in_transaction:
            worker.run(f"set test.seconds = {since + seconds}")
        else:
            stand_at(stage, since + seconds)
        assert claim(worker) is None


def test_an_inserter_that_prepares_after_it_was_seen_is_not_passed_over(
    stage: Stage, producers: list[Session], workers: list[Session]
) -> None:
    early, worker = producers[0], workers[0]
    assert claim(worker) is None
    early.begin()
    late = enqueue(early)
    stand_at(stage, 1)
    assert claim(worker) is None
    early.run("prepare transaction 'late'")
    try:
        for seconds in (2, 3):
            stand_at(stage, seconds)
            assert claim(worker) is None
    finally:
        early.run("commit prepared 'late'")

    assert claim(worker) == (late, 1)


def test_an_inserter_that_goes_back_to_a_savepoint_is_not_passed_over(
    stage: Stage, producers: list[Session], workers: list[Session]
) -> None:
    early, worker = producers[0], workers[0]
    early.begin()
    early.run("savepoint before")
    enqueue(early)
    assert claim(worker) is None
    early.run("rollback to savepoint before")
    finds_nothing(stage, worker)
    late = enqueue(early)
    assert claim(worker) is None
    early.commit()

    assert claim(worker) == (late, 1)


def test_a_claimer_that_goes_back_to_a_savepoint_loses_no_job(
    stage: Stage, producers: list[Session], workers: list[Session]
) -> None:
    first, second = enqueue(producers[0]), enqueue(producers[0])
    s1, s2 = workers
    s1.begin()
    s1.run("savepoint before")
    assert claim(s1) == (first, 1)
    stand_at(stage, 1)
    assert claim(s1) == (second, 1)
    finds_nothing(stage, s2)
    assert claim(s1) is None
    s1.run("rollback to savepoint before")

    assert claim(s1) == (first, 1)
    s1.commit()
    assert claim(s2) == (second, 1)


def test_a_claimer_that_is_prepared_and_rolled_back_finds_its_job_again(
    stage: Stage, producers: list[Session], workers: list[Session]
) -> None:
    """What a session remembers outlives PREPARE TRANSACTION: it may not know of its own claim."""
    first = enqueue(producers[0])
    s1, s2 = workers
    assert claim(s2) == (first, 1)
    assert s2.value("select plane.release_job(%s, 1)", first)
    s1.begin()
    assert claim(s1) == (first, 2)
    finds_nothing(stage, s1)
    s1.run("prepare transaction 'claimed'")
    try:
        assert claim(s1) is None
        finds_nothing(stage, s2)
    finally:
        s1.run("rollback prepared 'claimed'")

    assert claim(s1) == (first, 2)
    assert s1.value("select plane.release_job(%s, 2)", first)
    assert claim(s2) == (first, 3)


@pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
def test_a_claimer_that_sees_the_past_passes_no_job_over(
    stage: Stage, producers: list[Session], workers: list[Session], isolation: str
) -> None:
    early, prompt = producers
    worker = workers[0]
    assert claim(worker) is None
    early.begin()
    late = enqueue(early)
    worker.begin(isolation)
    assert claim(worker) is None
    at_once = enqueue(prompt)
    early.commit()
    finds_nothing(stage, worker)
    worker.commit()

    assert claim(worker) == (late, 1)
    assert claim(worker) == (at_once, 1)


IT = "(select id from plane.jobs where operation = 'it')"
ENQUEUE_IT = "select plane.enqueue('mail', 'it', p_max_dequeues => 1)"
CLAIM_IT = "select plane.claim_one('mail', 'holder')"
A_LINE = (
    "select plane.enqueue('mail', 'head', p_serial_key => 'red')",
    "select plane.enqueue('mail', 'it', p_serial_key => 'red')",
)
POISON = (ENQUEUE_IT, CLAIM_IT, f"select plane.fail_job({IT}, 1, '{{}}')")

PLACED_BY: dict[str, tuple[tuple[str, ...], str]] = {
    # who places the job `it` among those that can be claimed: what was before, and the call
    "an enqueue": ((), ENQUEUE_IT),
    "an enqueue with a key": ((), "select plane.enqueue('mail', 'it', p_dedupe_key => 'a')"),
    "a head of a line": ((), "select plane.enqueue('mail', 'it', p_serial_key => 'red')"),
    "a batch": ((), """select plane.enqueue_many('mail', '[{"operation": "it"}]')"""),
    "a batch with a key": (
        (),
        """select plane.enqueue_many('mail', '[{"operation": "it", "dedupe_key": "a"}]')""",
    ),
    "a sweep of what is due": (
        ("select plane.enqueue('mail', 'it', p_available_at => '2030-01-01 01:00Z')",),
        "select plane.sweep()",
    ),
    "a sweep of what has lapsed": (
        ("select plane.enqueue('mail', 'it')", CLAIM_IT),
        "select plane.sweep()",
    ),
    "a claim that looks at time": (
        ("select plane.enqueue('mail', 'it')", CLAIM_IT, "select plane.pause_queue('mail')"),
        "select plane.claim_one('mail', 'looker')",
    ),
    "a release": ((ENQUEUE_IT, CLAIM_IT), f"select plane.release_job({IT}, 1)"),
    "a failure without a pause": (
        ("select plane.enqueue('mail', 'it')", CLAIM_IT),
        f"select plane.fail_job({IT}, 1, '{{}}', '0 s')",
    ),
    "a completion of the head": (
        (*A_LINE, CLAIM_IT),
        "select plane.complete_job((select id from plane.jobs where operation = 'head'), 1)",
    ),
    "a cancel of the head": (
        A_LINE,
        "select plane.request_cancel((select id from plane.jobs where operation = 'head'), 'ann')",
    ),
    "a retry": (POISON, f"select plane.retry_job({IT})"),
    "a retry of many": (POISON, "select plane.retry_poison('mail')"),
    "a pull forward": (
        ("select plane.enqueue('mail', 'it', p_dedupe_key => 'a', p_priority => 5)",),
        "select plane.enqueue('mail', 'it', p_dedupe_key => 'a')",
    ),
}


@pytest.mark.parametrize("placed_by", PLACED_BY)
def test_a_job_is_not_passed_over_while_whoever_placed_it_is_open(
    stage: Stage, queue_db: str, workers: list[Session], placed_by: str
) -> None:
    (opened,) = stage.enter(queue_db)
    worker = workers[0]
    before, call = PLACED_BY[placed_by]
    for sql in before:
        stage.look(sql)
    stand_at(stage, A_LONG_TIME)
    opened.begin()
    opened.run(call)
    stage.look("select plane.resume_queue('mail')")
    assert claim(worker) is None
    finds_nothing(stage, worker, since=A_LONG_TIME)
    opened.commit()

    claimed = claim(worker)
    assert claimed is not None
    assert stage.look("select operation from plane.jobs where id = %s", claimed[0]) == [("it",)]


@pytest.mark.parametrize("placed_by", PLACED_BY)
def test_nobody_draws_a_position_before_it_has_the_lock(
    stage: Stage, queue_db: str, placed_by: str
) -> None:
    """Else a floor could move beyond a position whose holder nobody can see."""
    blocker, caller = stage.enter(queue_db, queue_db)
    before, call = PLACED_BY[placed_by]
    for sql in before:
        stage.look(sql)
    stand_at(stage, A_LONG_TIME)
    drawn = "select last_value, is_called from plane.job_id_seq"
    so_far = stage.look(drawn)

    blocker.begin()
    blocker.run("lock table plane.ready in share mode")
    caller.start(call)
    caller.waits_for(blocker)
    assert stage.look(drawn) == so_far
    blocker.rollback()
    caller.result()
    assert stage.look(drawn) != so_far


def test_a_job_that_commits_while_a_floor_moves_is_seen(
    stage: Stage, queue_db: str, producers: list[Session], workers: list[Session]
) -> None:
    """Who is writing is asked first, what is there in a later statement: never by one snapshot."""
    early, worker = producers[0], workers[0]
    (gate,) = stage.enter(queue_db)
    stage.look("alter function plane._ready_writers() rename to _ready_writers_behind_the_gate")
    stage.look(
        """
        create function plane._ready_writers() returns text[] language plpgsql volatile as $$
        begin
            perform pg_advisory_xact_lock_shared(1);
            return plane._ready_writers_behind_the_gate();
        end
        $$
        """
    )
    early.begin()
    late = enqueue(early)
    assert claim(worker) is None
    stand_at(stage, 1)

    gate.begin()
    gate.run("select pg_advisory_xact_lock(1)")
    worker.start(CLAIM, worker.name)
    worker.waits_for(gate)
    early.commit()
    gate.commit()

    assert worker.result() == [(late, 1)]


def test_a_lease_that_shows_long_after_it_lapsed_is_taken_over(
    stage: Stage, producers: list[Session], workers: list[Session]
) -> None:
    job_id = enqueue(producers[0])
    s1, s2 = workers
    s1.begin()
    assert claim(s1) == (job_id, 1)
    for seconds in range(10):
        stand_at(stage, A_LONG_TIME + seconds)
        assert claim(s2) is None
    s1.commit()

    stand_at(stage, A_LONG_TIME + 20)
    assert claim(s2) == (job_id, 2)
    assert not complete(s1, job_id, 1)


@pytest.mark.parametrize(("looked", "within"), [(0, 601), (10**9, 0)], ids=["put off", "absurd"])
def test_a_look_at_time_that_somebody_put_off_is_made_within_ten_minutes(
    stage: Stage, producers: list[Session], workers: list[Session], looked: int, within: int
) -> None:
    job_id = enqueue(producers[0])
    s1, s2 = workers
    assert claim(s1) == (job_id, 1)
    stand_at(stage, A_LONG_TIME)
    s2.run(
        """
        select set_config('plane.looked_1', hashtext(note) || '#' || note, false)
        from floor(1000 * extract(epoch from timestamptz '2030-01-03 00:00Z')) as now (ms),
            concat_ws('|', ms + %s, ms + 600000 + %s) as note
        """,
        looked,
        looked,
    )
    if within:
        assert claim(s2) is None

    stand_at(stage, A_LONG_TIME + within)
    assert claim(s2) == (job_id, 2)
