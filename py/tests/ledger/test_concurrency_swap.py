"""What stays of a range takes its place while others look at it, and change it."""

import pytest

from ..support.ranges import DAY, MAINTAIN, WIDTH, maintain
from ..support.sessions import Session, Stage
from ..support.steps import CLAIM, claim, complete, enqueue, later, status

SEEN = "select id, status from plane.jobs order by id"
ANSWER = "select status from plane.get_job('mail', %s, %s)"


@pytest.fixture(autouse=True)
def mail(stage: Stage) -> None:
    stage.look("select plane.create_queue('mail', p_lease => '7 days', p_notify => 'never')")


@pytest.fixture
def keepers(stage: Stage, as_worker: str, as_admin: str) -> list[Session]:
    """Two sessions that maintain the ledger: a worker's and an admin's."""
    return stage.enter(as_worker, as_admin)


@pytest.fixture
def producer(producers: list[Session]) -> Session:
    return producers[0]


@pytest.fixture
def worker(workers: list[Session]) -> Session:
    return workers[0]


@pytest.fixture
def stays(stage: Stage, producer: Session, worker: Session, keepers: list[Session]) -> int:
    """A job that w1 has held for two days, in a range of which all else is over."""
    stage.look("select plane.create_queue('mail', p_backoff => '1 day')")
    job_id = enqueue(producer)
    assert claim(worker) == (job_id, 1)
    for _ in range(4):
        done = enqueue(producer)
        claim(worker)
        assert complete(worker, done, 1)
    later(stage, 2 * DAY)
    assert maintain(keepers[0]) == f"opened ids from {WIDTH} on"
    return job_id


def test_what_stays_is_swapped_under_a_claim(
    stage: Stage, stays: int, workers: list[Session], keepers: list[Session]
) -> None:
    worker, rival = workers
    assert worker.value("select plane.release_job(%s, 1)", stays)
    assert maintain(keepers[0]) == f"copied 1 jobs that stay of ids 0 to {WIDTH - 1}"
    keepers[0].begin()
    assert maintain(keepers[0]) == f"removed ids 0 to {WIDTH - 1} but for 1 jobs that stay"
    rival.start(CLAIM, rival.name)
    rival.waits_for(keepers[0])
    keepers[0].commit()
    assert rival.result() == [(stays, 2)]
    assert complete(rival, stays, 2)
    assert stage.look(SEEN) == [(stays, "done")]


def test_a_completion_and_a_reader_wait_for_the_swap_and_find_the_job(
    stage: Stage,
    producer: Session,
    worker: Session,
    keepers: list[Session],
    as_reader: str,
) -> None:
    """A reader's snapshot is older than the end of its wait, so what was copied must be older."""
    scope = stage.look("""select plane.scope_key('acme', '["north"]', false)""")[0][0]
    stage.look("""select plane.register_manifest('mail', '[{"name": "send", "version": 1}]')""")
    envelope = '{"client": "acme", "actor": "ann", "staff": false, "scope": ["north"]}'
    asked = producer.value(
        "select job_id from plane.submit_request('mail', 'send', '{}', %s::jsonb)", envelope
    )
    assert claim(worker) == (asked, 1)
    done = enqueue(producer)
    claim(worker)
    complete(worker, done, 1)
    later(stage, 2 * DAY)
    assert [(maintain(keepers[0]) or "").split()[0] for _ in "12"] == ["opened", "copied"]
    (reader,) = stage.enter(as_reader)
    assert reader.value(ANSWER, asked, scope) == "in_progress"

    keepers[0].begin()
    assert (maintain(keepers[0]) or "").startswith("removed")
    reader.start(ANSWER, asked, scope)
    reader.waits_for(keepers[0])
    worker.start("select plane.complete_job(%s, 1, '{}')", asked)
    worker.waits_for(keepers[0])
    keepers[0].commit()
    assert reader.result()[0][0] in ("in_progress", "done")
    assert worker.result() == [(True,)]
    assert reader.value(ANSWER, asked, scope) == "done"


def test_a_claim_under_way_is_waited_for_or_left(
    stage: Stage, stays: int, workers: list[Session], keepers: list[Session]
) -> None:
    worker, rival = workers
    assert worker.value("select plane.release_job(%s, 1)", stays)
    assert (maintain(keepers[0]) or "").startswith("copied")
    rival.begin()
    assert claim(rival) == (stays, 2)
    assert (maintain(keepers[0]) or "").startswith(f"left process {rival.pid}")
    rival.rollback()
    assert (maintain(keepers[0]) or "").startswith("removed")
    assert claim(rival) == (stays, 2)


@pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
def test_who_looks_at_the_past_keeps_the_rows_that_stay(
    stage: Stage, stays: int, workers: list[Session], keepers: list[Session], isolation: str
) -> None:
    """A snapshot from before the copy would not see it."""
    worker, rival = workers
    assert worker.value("select plane.release_job(%s, 1)", stays)
    rival.begin(isolation)
    rival.run("select 1")
    assert (maintain(keepers[0]) or "").startswith("copied")
    left = maintain(keepers[0])
    assert left is not None
    assert left.startswith(f"left process {rival.pid} of test_worker")
    assert left.endswith("may not see yet what is to stay")
    assert claim(rival) == (stays, 2)
    rival.commit()
    assert (maintain(keepers[0]) or "").startswith("removed")
    assert stage.look(SEEN) == [(stays, "in_progress")]


def test_a_snapshot_from_between_copy_and_swap_sees_what_stays(
    stage: Stage, stays: int, workers: list[Session], keepers: list[Session], as_admin: str
) -> None:
    worker, rival = workers
    assert worker.value("select plane.release_job(%s, 1)", stays)
    assert (maintain(keepers[0]) or "").startswith("copied")
    (reader,) = stage.enter(as_admin)
    for session in (reader, rival):
        session.begin("repeatable read")
        session.run("select 1")
    assert (maintain(keepers[0]) or "").startswith("removed")
    assert reader.run(SEEN) == [(stays, "pending")]
    assert claim(rival) == (stays, 2)
    rival.commit()
    reader.commit()


def test_in_one_transaction_nothing_is_copied_and_swapped(
    stays: int, keepers: list[Session]
) -> None:
    keepers[0].begin()
    assert (maintain(keepers[0]) or "").startswith("copied")
    assert maintain(keepers[0]) == "left this transaction may not see yet what is to stay"
    keepers[0].commit()
    assert (maintain(keepers[0]) or "").startswith("removed")


def test_what_ends_after_it_was_copied_is_copied_again(
    stage: Stage, stays: int, worker: Session, keepers: list[Session]
) -> None:
    assert (maintain(keepers[0]) or "").startswith("copied")
    assert complete(worker, stays, 1, '{"late": 1}')
    assert maintain(keepers[0]) == f"copied 1 jobs of ids 0 to {WIDTH - 1} that have changed"
    assert (maintain(keepers[0]) or "").startswith("removed")
    assert stage.look("select id, status, result->>'late' from plane.jobs") == [
        (stays, "done", "1")
    ]
    assert stage.look("select outcome from plane.attempts") == [("done",)]


def test_what_ends_just_before_the_swap_is_not_lost(
    stage: Stage,
    queue_db: str,
    stays: int,
    worker: Session,
    keepers: list[Session],
) -> None:
    """The last moment: the copy was found to be as it should be, and nothing is locked yet."""
    stage.look(
        "create or replace function plane._expire_keys(p_lower bigint, p_upper bigint)"
        " returns boolean language plpgsql set lock_timeout = 0 as"
        " 'begin perform pg_advisory_xact_lock(4711); return true; end'"
    )
    (gate,) = stage.enter(queue_db)
    assert (maintain(keepers[0]) or "").startswith("copied")
    gate.run("select pg_advisory_lock(4711)")
    keepers[0].start(MAINTAIN)
    keepers[0].waits_for(gate)
    assert complete(worker, stays, 1)
    gate.run("select pg_advisory_unlock(4711)")
    left = f"ids 0 to {WIDTH - 1}: what stays has just changed"
    assert keepers[0].result() == [("left", left)]
    assert status(stage, stays) == "done"
    assert (maintain(keepers[0]) or "").startswith("copied 1 jobs")
    assert (maintain(keepers[0]) or "").startswith("removed")
    assert stage.look(SEEN) == [(stays, "done")]


def test_an_attempt_after_the_copy_is_on_record(
    stage: Stage, stays: int, worker: Session, keepers: list[Session]
) -> None:
    assert (maintain(keepers[0]) or "").startswith("copied")
    assert worker.value("select plane.fail_job(%s, 1, '{}')", stays) == "pending"
    assert (maintain(keepers[0]) or "").startswith("removed")
    assert stage.look(SEEN) == [(stays, "pending")]
    assert stage.look("select attempt, outcome from plane.attempts") == [(1, "failed")]
    later(stage, 4 * DAY)
    assert claim(worker) == (stays, 2)


def test_poison_that_is_retried_after_it_was_copied_is_live(
    stage: Stage, stays: int, worker: Session, keepers: list[Session]
) -> None:
    keeper, admin = keepers
    stage.look("update plane.lease set max_dequeues = 1")
    assert worker.value("select plane.fail_job(%s, 1, '{}')", stays) == "poison"
    assert (maintain(keeper) or "").startswith("copied")
    assert admin.value("select plane.retry_job(%s)", stays) == stays
    assert (maintain(keeper) or "").startswith("copied 1 jobs")
    assert (maintain(keeper) or "").startswith("removed")
    assert stage.look(SEEN) == [(stays, "pending")]
    assert claim(worker) == (stays, 2)
    assert worker.value("select plane.fail_job(%s, 2, '{}', '1 s')", stays) == "pending"
    assert stage.look("select attempt from plane.attempts order by 1") == [(1,), (2,)]


def test_poison_that_somebody_is_retrying_is_not_removed(
    stage: Stage, stays: int, worker: Session, keepers: list[Session]
) -> None:
    """Its retention is over, but who has locked it may go on with it."""
    keeper, admin = keepers
    stage.look("update plane.lease set max_dequeues = 1")
    assert worker.value("select plane.fail_job(%s, 1, '{}')", stays) == "poison"
    stage.look("select plane.create_queue('mail', p_poison_retention => '1 hour')")
    later(stage, 3 * DAY)
    admin.begin()
    assert admin.value("select plane.retry_job(%s)", stays) == stays
    assert (maintain(keeper) or "").startswith(f"left process {admin.pid}")
    admin.rollback()
    assert maintain(keeper) == f"removed ids 0 to {WIDTH - 1}"
    assert stage.look(SEEN) == []


def test_a_queue_dropped_after_its_jobs_were_copied_leaves_nothing(
    stage: Stage, stays: int, worker: Session, keepers: list[Session]
) -> None:
    keeper, admin = keepers
    assert complete(worker, stays, 1)
    assert (maintain(keeper) or "").startswith("copied")
    admin.run("select plane.drop_queue('mail')")
    assert (maintain(keeper) or "").startswith("copied 1 jobs")
    assert maintain(keeper) == f"removed ids 0 to {WIDTH - 1} but for 0 jobs that stay"
    for table in ("job", "outcome", "attempt"):
        assert stage.look(f"select count(*) from plane.{table}") == [(0,)]


def test_a_key_that_a_taker_gave_back_goes_before_its_job(
    stage: Stage,
    queue_db: str,
    producers: list[Session],
    worker: Session,
    keepers: list[Session],
) -> None:
    job_id = enqueue(producers[0], "key")
    claim(worker)
    key = "select key from plane.live_key where job_id = %s for update"
    (owner,) = stage.enter(queue_db)
    owner.begin()
    assert len(owner.run(key, job_id)) == 1, "who takes the key over holds it"
    assert complete(worker, job_id, 1)
    later(stage, 2 * DAY)
    assert maintain(keepers[0]) == f"opened ids from {WIDTH} on"
    left = f"left ids 0 to {WIDTH - 1}: somebody has a dedupe key of theirs locked"
    assert maintain(keepers[0]) == left
    owner.rollback()
    assert maintain(keepers[0]) == f"removed ids 0 to {WIDTH - 1}"
    assert stage.look("select count(*) from plane.live_key") == [(0,)]
    assert enqueue(producers[0], "key") == WIDTH
