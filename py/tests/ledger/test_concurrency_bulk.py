"""Batches, enqueued and completed, while other sessions are at the same jobs."""

import json
from collections.abc import Callable
from threading import Event, Thread
from typing import Any

import psycopg
import pytest

from ..support.sessions import Row, Session, Stage
from ..support.steps import claim, enqueue, later, make_queue, status

BATCH = "select job_id, coalesced from plane.enqueue_many('mail', %s::jsonb)"
CLAIM_ALL = "select job_id, attempt from plane.claim('mail', %s, 1000)"
COMPLETE_ALL = (
    "select job_id, completed from plane.complete_jobs(%s::bigint[],"
    " array_fill(1, array[cardinality(%s::bigint[])]))"
)
TAKE_KEY = (
    "insert into plane.live_key select plane._hash_key(q.id, %s), 0 from plane.queue q"
    " where q.name = 'mail'"
)


@pytest.fixture(autouse=True)
def mail(stage: Stage) -> None:
    make_queue(stage)


@pytest.fixture
def owner(stage: Stage, queue_db: str) -> Session:
    """A session with every right."""
    (session,) = stage.enter(queue_db)
    return session


def batch(*keys: str | None, name: str = "dedupe_key") -> str:
    return json.dumps([{"operation": "send", name: key} for key in keys])


def in_locking_order(stage: Stage, *keys: str) -> list[str]:
    """The keys in the order in which every batch takes them."""
    rows = stage.look(
        "select k from plane.queue q, unnest(%s::text[]) as k where q.name = 'mail'"
        " order by plane._hash_key(q.id, k)",
        list(keys),
    )
    return [key for (key,) in rows]


def claim_all(session: Session) -> list[int]:
    return [job_id for job_id, _ in session.run(CLAIM_ALL, session.name)]


def complete_all(session: Session, job_ids: list[int]) -> list[Row]:
    return session.run(COMPLETE_ALL, job_ids, job_ids)


@pytest.mark.parametrize("name", ["dedupe_key", "serial_key"])
def test_batches_with_the_same_keys_in_opposite_order_do_not_deadlock(
    stage: Stage, as_producer: str, name: str
) -> None:
    s0, s1, s2 = stage.enter(as_producer, as_producer, as_producer)
    keys = ["a", "b", "c", "d", "e"]
    if name == "dedupe_key":
        keys = in_locking_order(stage, *keys)
    s0.begin()
    s0.run(BATCH, batch(keys[2], name=name))
    s1.start(BATCH, batch(*keys, name=name))
    s1.waits_for(s0)
    s2.start(BATCH, batch(*reversed(keys), name=name))
    s2.waits_for(s1)
    s0.commit()
    first, second = s1.result(), s2.result()

    if name == "dedupe_key":
        assert second == [(job_id, True) for job_id, _ in reversed(first)]
    else:
        heads = stage.look("select job_id from plane.line order by serial_key")
        assert [job_id for (job_id,) in heads if job_id in dict(first)] == [
            job_id for job_id, _ in first[:2] + first[3:]
        ]


def test_a_batch_joins_the_jobs_of_an_open_batch_once_that_commits(
    producers: list[Session],
) -> None:
    s1, s2 = producers
    s1.begin()
    (a, _), (b, _) = s1.run(BATCH, batch("a", "b"))
    s2.start(BATCH, batch("b", None, "a"))
    s2.waits_for(s1)
    s1.commit()
    joined, own, also_joined = s2.result()
    assert (joined, own[1], also_joined) == ((b, True), False, (a, True))


def test_a_batch_has_jobs_of_its_own_when_the_open_batch_rolls_back(
    stage: Stage, producers: list[Session]
) -> None:
    s1, s2 = producers
    s1.begin()
    s1.run(BATCH, batch("a", "b"))
    s2.start(BATCH, batch("b", "a"))
    s2.waits_for(s1)
    s1.rollback()
    answers = s2.result()
    assert [coalesced for _, coalesced in answers] == [False, False]
    assert stage.look("select id from plane.jobs order by id") == [(j,) for j, _ in answers]


def test_a_key_that_is_freed_while_a_batch_waits_for_another_is_taken_after_all(
    stage: Stage, as_producer: str, workers: list[Session]
) -> None:
    s1, s2, s3 = stage.enter(as_producer, as_producer, as_producer)
    first, second, third = in_locking_order(stage, "a", "b", "c")
    s1.begin()
    gone = enqueue(s1, second)
    s2.begin()
    live = enqueue(s2, third)

    s3.start(BATCH, batch(third, first, second))
    s3.waits_for(s1)
    s1.commit()
    s3.waits_for(s2)
    assert claim_all(workers[0]) == [gone]
    complete_all(workers[0], [gone])
    s2.commit()
    joined, new, taken = s3.result()

    assert joined == (live, True)
    assert (new[1], taken[1]) == (False, False)
    assert taken[0] != gone
    keys = stage.look("select job_id from plane.live_key order by job_id")
    assert keys == [(job_id,) for job_id in sorted([live, new[0], taken[0]])]


def test_a_batch_joins_a_job_that_is_just_being_completed_without_waiting(
    stage: Stage, producers: list[Session], workers: list[Session]
) -> None:
    producer, worker = producers[0], workers[0]
    job_id = enqueue(producer, "a")
    claim(worker)
    worker.begin()
    complete_all(worker, [job_id])
    producer.run("set lock_timeout = '1ms'")
    assert producer.run(BATCH, batch("a", "b"))[0] == (job_id, True)
    worker.commit()
    assert status(stage, job_id) == "done"


def test_claims_miss_no_job_of_a_batch_that_waits_for_a_key(
    stage: Stage, owner: Session, producers: list[Session], workers: list[Session]
) -> None:
    """Its positions are drawn already; a scan floor that passed them would hide its jobs."""
    producer, worker = producers[0], workers[0]
    owner.begin()
    owner.run(TAKE_KEY, "a")
    producer.start(BATCH, batch(None, "a"))
    producer.waits_for(owner)
    other = enqueue(producers[1])
    for seconds in (0, 2, 4):
        later(stage, seconds)
        assert claim_all(worker) == ([] if seconds else [other])
    owner.rollback()
    job_ids = [job_id for job_id, _ in producer.result()]
    assert claim_all(worker) == job_ids


def test_a_batch_by_an_older_snapshot_opens_the_line_that_has_ended_since(
    stage: Stage, producers: list[Session], workers: list[Session]
) -> None:
    producer = producers[0]
    (head,) = (job for job, _ in producer.run(BATCH, batch("ais", name="serial_key")))
    producer.begin("repeatable read")
    producer.run("select 1")
    assert claim(workers[0]) == (head, 1)
    assert complete_all(workers[0], [head]) == [(head, True)]
    rows = producer.run(BATCH, batch("ais", "ais", name="serial_key"))
    producer.commit()
    assert [status(stage, job_id) for job_id, _ in rows] == ["pending", "waiting"]


def test_completions_of_the_same_jobs_in_opposite_order_do_not_deadlock(
    stage: Stage, owner: Session, producers: list[Session], workers: list[Session]
) -> None:
    s1, s2 = workers
    producers[0].run(BATCH, batch(None, None, None))
    job_ids = claim_all(s1)
    owner.begin()
    owner.run("select from plane.lease where job_id = %s for update", job_ids[1])
    s1.start(COMPLETE_ALL, job_ids, job_ids)
    s1.waits_for(owner)
    backwards = job_ids[::-1]
    s2.start(COMPLETE_ALL, backwards, backwards)
    s2.waits_for(s1)
    owner.rollback()

    assert s1.result() == [(job_id, True) for job_id in job_ids]
    assert s2.result() == [(job_id, False) for job_id in backwards]


def renewed(worker: Session, job_id: int) -> None:
    worker.run("select plane.renew_leases('w', array[%s]::bigint[], array[1])", job_id)


def released(worker: Session, job_id: int) -> None:
    worker.run("select plane.release_job(%s, 1)", job_id)


@pytest.mark.parametrize(
    ("change", "completed"), [(renewed, True), (released, False)], ids=["renewed", "released"]
)
def test_a_completion_waits_for_what_becomes_of_a_lease(
    stage: Stage,
    producers: list[Session],
    workers: list[Session],
    change: Callable[[Session, int], None],
    completed: bool,
) -> None:
    s1, s2 = workers
    producers[0].run(BATCH, batch(None, None, None))
    job_ids = claim_all(s1)
    s2.begin()
    change(s2, job_ids[1])
    s1.start(COMPLETE_ALL, job_ids, job_ids)
    s1.waits_for(s2)
    s2.commit()

    assert [done for _, done in s1.result()] == [True, completed, True]
    assert status(stage, job_ids[1]) == ("done" if completed else "pending")
    assert not stage.look("select job_id from plane.lease")


def test_a_completion_does_not_wait_for_enqueuers_that_joined_its_jobs_or_lines(
    stage: Stage, producers: list[Session], workers: list[Session]
) -> None:
    producer, worker = producers[0], workers[0]
    producer.run(BATCH, batch("a", "b"))
    producer.run(BATCH, batch("x", "y", name="serial_key"))
    job_ids = claim_all(worker)

    producer.begin()
    producer.run(BATCH, batch("b", "a"))
    behind = producer.run(BATCH, batch("y", "x", name="serial_key"))
    worker.run("set lock_timeout = '1ms'")
    assert all(done for _, done in complete_all(worker, job_ids))
    producer.commit()

    assert sorted(claim_all(worker)) == sorted(job_id for job_id, _ in behind)


def test_a_batch_is_told_once_and_its_completions_in_few_payloads(
    owner: Session, queue_db: str
) -> None:
    owner.run("select plane.create_queue('mail', p_notify => 'always')")
    with psycopg.connect(queue_db, autocommit=True) as connection:
        connection.execute("listen plane_ready")
        connection.execute("listen plane_done")

        def heard() -> list[str]:
            connection.execute("notify plane_ready, 'now'")
            words = [word.payload for word in connection.notifies(timeout=20, stop_after=1)]
            while words[-1] != "now":
                words += [word.payload for word in connection.notifies(timeout=20, stop_after=1)]
            return words[:-1]

        owner.run("select setval('plane.job_id_seq', 70000000)")
        owner.run(BATCH, batch(*[None] * 2000))
        assert heard() == ["mail"]
        job_ids = []
        while claimed := claim_all(owner):
            job_ids += claimed
        heard()
        complete_all(owner, job_ids)
        payloads = heard()

    assert [len(payload) < 8000 for payload in payloads] == [True] * 3
    assert sorted(int(i) for payload in payloads for i in payload.split(",")) == job_ids


def test_completions_tell_of_what_somebody_waits_for_and_of_nothing_else(
    owner: Session, queue_db: str
) -> None:
    owner.run("select plane.create_queue('mail', p_notify => 'waiters')")
    owner.run(BATCH, batch(None, None, None))
    job_ids = claim_all(owner)
    owner.run("insert into plane.waiter values (%s, 'edge', now() + interval '1 min')", job_ids[1])
    with psycopg.connect(queue_db, autocommit=True) as connection:
        connection.execute("listen plane_done")
        complete_all(owner, job_ids)
        connection.execute("notify plane_done, 'now'")
        words = [word.payload for word in connection.notifies(timeout=20, stop_after=2)]
    assert words == [str(job_ids[1]), "now"]


def test_batches_of_hot_keys_lose_no_job_and_never_fail(
    stage: Stage, as_producer: str, as_worker: str
) -> None:
    """Two producers in opposite orders, two workers that complete in batches meanwhile."""
    keys = [f"k{number}" for number in range(20)]
    orders = [batch(*keys, None), batch(*reversed(keys), None)]
    returned: list[Row] = []
    failures: list[BaseException] = []
    filled = Event()

    def session(url: str, act: Callable[[psycopg.Connection[Any]], None]) -> Thread:
        def run() -> None:
            try:
                with psycopg.connect(url, autocommit=True) as connection:
                    act(connection)
            except BaseException as failure:  # told by the test itself, below
                failures.append(failure)

        return Thread(target=run)

    def produce(order: str) -> Callable[[psycopg.Connection[Any]], None]:
        def act(connection: psycopg.Connection[Any]) -> None:
            for _ in range(150):
                returned.extend(connection.execute(BATCH, (order,)).fetchall())

        return act

    def drain(connection: psycopg.Connection[Any]) -> None:
        while True:
            last = filled.is_set()
            held = [i for i, _ in connection.execute(CLAIM_ALL, ("w",)).fetchall()]
            done = connection.execute(COMPLETE_ALL, (held, held)).fetchall()
            assert all(completed for _, completed in done)
            if last and not held:
                return

    producers = [session(as_producer, produce(order)) for order in orders]
    workers = [session(as_worker, drain) for _ in range(2)]
    for thread in producers + workers:
        thread.start()
    for thread in producers:
        thread.join()
    filled.set()
    for thread in workers:
        thread.join()

    assert not failures
    done = stage.look("select id from plane.jobs where status = 'done'")
    assert {job_id for (job_id,) in done} == {job_id for job_id, _ in returned}
    assert len(returned) == 2 * 150 * 21
    assert not stage.look("select key from plane.live_key")
