"""A request is left while it is joined, awaited, claimed, completed, retried, or left by others."""

import json
import random
import threading
from collections.abc import Callable

import psycopg
import pytest
from psycopg.errors import SerializationFailure

from ..support.sessions import Session, Stage
from ..support.steps import claim, complete, enqueue, make_queue, status

SCOPE = """plane.scope_key('acme', '["north"]', false)"""
OWN = """plane.scope_key('acme', '["north"]', false, %s)"""
SUBMIT = "select job_id, coalesced from plane.submit_request('mail', 'ask', %s::jsonb, %s::jsonb)"
LEAVE = f"select plane.leave_job('mail', %s, {SCOPE}, {OWN})"
WAIT = f"select plane.register_waiter('mail', %s, {SCOPE}, {OWN}, '1 min')"
AWAIT = f"select status from plane.await_job('mail', %s, {SCOPE})"
KEY = f"plane.dedupe_key('mail', 'ask', 1, 'acme', {SCOPE}, '{{}}')"
ENQUEUE = f"select job_id, coalesced from plane.enqueue('mail', 'ask', p_dedupe_key => {KEY})"
CLAIM_TWO = "select job_id, attempt from plane.claim('mail', 'w', 2)"
STOP = "select plane.finish_cancel(%s, %s)"
BATCH = f"""
    select job_id, coalesced
    from plane.enqueue_many('mail', (
        select jsonb_agg(jsonb_build_object('operation', 'ask', 'dedupe_key', k.key) order by k.ord)
        from unnest(array[{KEY}, 'a', 'b', 'c', 'd', 'e']) with ordinality as k (key, ord)))
    order by ordinality
"""

Join = Callable[[Session], tuple[int, bool]]


def envelope(actor: str) -> str:
    return json.dumps({"client": "acme", "actor": actor, "staff": False, "scope": ["north"]})


BOB_ASKS = (SUBMIT, "{}", envelope("bob"))


def ask(session: Session, actor: str) -> tuple[int, bool]:
    job_id, coalesced = session.row(SUBMIT, "{}", envelope(actor))
    return job_id, coalesced


def ask_as_bob(session: Session) -> tuple[int, bool]:
    return ask(session, "bob")


def enqueue_the_same(session: Session) -> tuple[int, bool]:
    job_id, coalesced = session.row(ENQUEUE)
    return job_id, coalesced


def enqueue_many_with_it(session: Session) -> tuple[int, bool]:
    job_id, coalesced = session.run(BATCH)[0]
    return job_id, coalesced


def leave(session: Session, job_id: int, actor: str) -> str:
    answer: str = session.value(LEAVE, job_id, actor)
    return answer


@pytest.fixture(autouse=True)
def mail(stage: Stage) -> None:
    """The queue with its operation; how long a call waits is for the tests to say."""
    make_queue(stage)
    stage.look("""select plane.register_manifest('mail', '[{"name": "ask", "version": 1}]')""")
    for function in ("submit_request", "leave_job"):
        stage.look(f"alter function plane.{function} reset lock_timeout")


@pytest.fixture
def edges(stage: Stage, as_edge: str) -> list[Session]:
    """Two sessions of an edge."""
    return stage.enter(as_edge, as_edge)


@pytest.mark.parametrize("join", [ask_as_bob, enqueue_the_same, enqueue_many_with_it])
@pytest.mark.parametrize("committed", [True, False], ids=["committed", "rolled back"])
def test_who_leaves_passes_over_a_job_that_somebody_is_joining(
    stage: Stage, edges: list[Session], join: Join, committed: bool
) -> None:
    s1, s2 = edges
    job_id, _ = ask(s1, "ann")
    s2.begin()
    assert join(s2) == (job_id, True)
    s1.run("set lock_timeout = '1ms'")
    assert leave(s1, job_id, "ann") == "pending"
    s2.run("commit" if committed else "rollback")

    assert status(stage, job_id) == "pending"
    wanted = committed and join is not ask_as_bob
    assert leave(s1, job_id, "bob") == ("pending" if wanted else "cancelled")


@pytest.mark.parametrize("start", [BOB_ASKS, (ENQUEUE,)], ids=["ask", "enqueue"])
@pytest.mark.parametrize("held", [True, False], ids=["held", "pending"])
@pytest.mark.parametrize("committed", [True, False], ids=["committed", "rolled back"])
def test_who_joins_waits_for_who_is_leaving(
    stage: Stage,
    edges: list[Session],
    workers: list[Session],
    start: tuple[str, ...],
    held: bool,
    committed: bool,
) -> None:
    s1, s2 = edges
    job_id, _ = ask(s1, "ann")
    if held:
        assert claim(workers[0]) == (job_id, 1)
    s1.begin()
    assert leave(s1, job_id, "ann") == ("cancelling" if held else "cancelled")
    s2.start(*start)
    s2.waits_for(s1)
    s1.run("commit" if committed else "rollback")

    ((joined, coalesced),) = s2.result()
    assert (joined == job_id) is coalesced is not committed
    assert status(stage, joined) == ("in_progress" if held and not committed else "pending")


@pytest.mark.parametrize("committed", [True, False], ids=["committed", "rolled back"])
def test_a_batch_that_joins_waits_for_who_is_leaving(
    stage: Stage, edges: list[Session], committed: bool
) -> None:
    s1, s2 = edges
    job_id, _ = ask(s1, "ann")
    s1.begin()
    assert leave(s1, job_id, "ann") == "cancelled"
    s2.start(BATCH)
    s2.waits_for(s1)
    s1.run("commit" if committed else "rollback")

    (joined, coalesced), *others = s2.result()
    assert (joined == job_id) is coalesced is not committed
    assert [is_old for _, is_old in others] == [False] * 5
    assert stage.look("select count(*) from plane.jobs where status = 'pending'") == [(6,)]


@pytest.mark.parametrize("committed", [True, False], ids=["committed", "rolled back"])
def test_a_batch_that_takes_its_keys_in_turn_waits_for_who_is_leaving(
    stage: Stage, queue_db: str, edges: list[Session], workers: list[Session], committed: bool
) -> None:
    s1, s2 = edges
    (taker,) = stage.enter(queue_db)
    # the first job leaves its key behind, which no batch takes with all others at once
    first = enqueue(s2, "a")
    assert claim(workers[0]) == (first, 1)
    taker.begin()
    taker.run("select from plane.live_key for update")
    assert complete(workers[0], first, 1)
    taker.rollback()
    job_id, _ = ask(s1, "ann")
    s1.begin()
    assert leave(s1, job_id, "ann") == "cancelled"
    s2.start(BATCH)
    s2.waits_for(s1)
    s1.run("commit" if committed else "rollback")

    (joined, coalesced), *others = s2.result()
    assert (joined == job_id) is coalesced is not committed
    assert [is_old for _, is_old in others] == [False] * 5
    assert stage.look("select count(*) from plane.jobs where status = 'pending'") == [(6,)]


@pytest.mark.parametrize("committed", [True, False], ids=["committed", "rolled back"])
def test_who_leaves_passes_over_a_job_that_somebody_begins_to_wait_for(
    stage: Stage, edges: list[Session], committed: bool
) -> None:
    s1, s2 = edges
    job_id, _ = ask(s1, "ann")
    s2.begin()
    assert s2.value(WAIT, job_id, "bob")
    s1.run("set lock_timeout = '1ms'")
    assert leave(s1, job_id, "ann") == "pending"
    s2.run("commit" if committed else "rollback")

    assert status(stage, job_id) == "pending"
    assert leave(s1, job_id, "cid") == ("pending" if committed else "cancelled")


def test_who_begins_to_wait_while_somebody_is_leaving_is_told_of_the_end(
    stage: Stage, queue_db: str, edges: list[Session]
) -> None:
    stage.look("select plane.create_queue('mail', p_notify => 'waiters')")
    s1, s2 = edges
    job_id, _ = ask(s1, "ann")
    with psycopg.connect(queue_db, autocommit=True) as listener:
        listener.execute("listen plane_done")
        s1.begin()
        assert leave(s1, job_id, "ann") == "cancelled"
        s2.run("set lock_timeout = '1ms'")
        assert s2.value(WAIT, job_id, "bob"), "it waits for nobody"
        assert s2.value(AWAIT, job_id) == "pending"
        s1.commit()
        told = list(listener.notifies(timeout=5, stop_after=1))
    assert [notice.payload for notice in told] == [str(job_id)]
    assert s2.value(AWAIT, job_id) == "cancelled"


@pytest.mark.parametrize("committed", [True, False], ids=["committed", "rolled back"])
def test_of_two_that_leave_at_once_the_last_one_cancels(
    edges: list[Session], committed: bool
) -> None:
    s1, s2 = edges
    job_id, _ = ask(s1, "ann")
    assert ask(s2, "bob") == (job_id, True)
    s1.begin()
    assert leave(s1, job_id, "ann") == "pending"
    s2.start(LEAVE, job_id, "bob")
    s2.waits_for(s1)
    s1.run("commit" if committed else "rollback")

    assert s2.result() == [("cancelled" if committed else "pending",)]


@pytest.mark.parametrize("committed", [True, False], ids=["committed", "rolled back"])
def test_who_leaves_waits_for_the_claim_under_way(
    edges: list[Session], workers: list[Session], committed: bool
) -> None:
    edge, worker = edges[0], workers[0]
    job_id, _ = ask(edge, "ann")
    worker.begin()
    assert claim(worker) == (job_id, 1)
    edge.start(LEAVE, job_id, "ann")
    edge.waits_for(worker)
    worker.run("commit" if committed else "rollback")

    assert edge.result() == [("cancelling" if committed else "cancelled",)]


@pytest.mark.parametrize("committed", [True, False], ids=["committed", "rolled back"])
def test_who_leaves_waits_for_the_completion_under_way(
    stage: Stage, edges: list[Session], workers: list[Session], committed: bool
) -> None:
    edge, worker = edges[0], workers[0]
    job_id, _ = ask(edge, "ann")
    assert claim(worker) == (job_id, 1)
    worker.begin()
    assert complete(worker, job_id, 1)
    edge.start(LEAVE, job_id, "ann")
    edge.waits_for(worker)
    worker.run("commit" if committed else "rollback")

    assert edge.result() == [("done" if committed else "cancelling",)]
    assert status(stage, job_id) == ("done" if committed else "cancelling")


def test_a_completion_does_not_wait_for_who_joins_or_begins_to_wait(
    stage: Stage, edges: list[Session], workers: list[Session]
) -> None:
    edge, worker = edges[0], workers[0]
    job_id, _ = ask(edge, "ann")
    assert claim(worker) == (job_id, 1)
    edge.begin()
    assert ask(edge, "bob") == (job_id, True)
    assert edge.value(WAIT, job_id, "ann")
    worker.run("set lock_timeout = '1ms'")
    assert complete(worker, job_id, 1)
    edge.commit()
    assert status(stage, job_id) == "done"


def test_who_leaves_passes_over_a_job_that_is_being_retried(
    stage: Stage, as_admin: str, edges: list[Session], workers: list[Session]
) -> None:
    stage.look("select plane.create_queue('mail', p_max_dequeues => 1)")
    (admin,) = stage.enter(as_admin)
    edge, worker = edges[0], workers[0]
    job_id, _ = ask(edge, "ann")
    assert claim(worker) == (job_id, 1)
    assert worker.value("select plane.fail_job(%s, 1, '{}')", job_id) == "poison"
    admin.begin()
    assert admin.value("select plane.retry_job(%s)", job_id) == job_id
    edge.run("set lock_timeout = '1ms'")
    assert leave(edge, job_id, "ann") == "poison"
    admin.commit()

    assert leave(edge, job_id, "ann") == "pending", "who retried it wants it"


def test_a_retry_waits_for_who_is_leaving(
    stage: Stage, as_admin: str, edges: list[Session], workers: list[Session]
) -> None:
    """Who leaves took the job for live, and looks for it until it is somewhere."""
    stage.look("select plane.create_queue('mail', p_max_dequeues => 1)")
    (admin,) = stage.enter(as_admin)
    edge, worker = edges[0], workers[0]
    job_id, _ = ask(edge, "ann")
    assert claim(worker) == (job_id, 1)
    worker.begin()
    assert worker.value("select plane.fail_job(%s, 1, '{}')", job_id) == "poison"
    edge.start(LEAVE, job_id, "ann")
    edge.waits_for(worker)
    admin.start("select plane.retry_job(%s)", job_id)
    admin.waits_for(edge)
    worker.commit()

    assert edge.result() == [("poison",)]
    assert admin.result() == [(job_id,)]
    assert status(stage, job_id) == "pending"


def test_a_retry_of_all_poison_passes_over_what_somebody_is_leaving(
    stage: Stage, queue_db: str, as_admin: str, edges: list[Session], workers: list[Session]
) -> None:
    """Who leaves took the job for live, and is kept from seeing that it is poison by now."""
    stage.look("select plane.create_queue('mail', p_max_dequeues => 1)")
    admin, keeper = stage.enter(as_admin, queue_db)
    edge, worker = edges[0], workers[0]
    job_id, _ = ask(edge, "ann")
    assert claim(worker) == (job_id, 1)
    keeper.begin()
    keeper.run("lock table plane.waiting in exclusive mode")
    worker.begin()
    assert worker.value("select plane.fail_job(%s, 1, '{}')", job_id) == "poison"
    edge.start(LEAVE, job_id, "ann")
    edge.waits_for(worker)
    worker.commit()
    edge.waits_for(keeper)
    assert admin.value("select plane.retry_poison('mail')") == 0
    keeper.rollback()

    assert edge.result() == [("poison",)]
    assert admin.value("select plane.retry_poison('mail')") == 1
    assert leave(edge, job_id, "ann") == "pending", "who retried it wants it"


@pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
def test_an_older_snapshot_cancels_nothing_by_leaving(edges: list[Session], isolation: str) -> None:
    s1, s2 = edges
    job_id, _ = ask(s1, "ann")
    s1.begin(isolation)
    s1.run("select 1")
    assert s2.value(WAIT, job_id, "bob")
    assert leave(s1, job_id, "ann") == "pending"
    s1.commit()

    assert leave(s1, job_id, "bob") == "cancelled", "that ann has left is noted"


@pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
@pytest.mark.parametrize("start", [BOB_ASKS, (BATCH,)], ids=["ask", "batch"])
def test_an_older_snapshot_that_joins_what_was_left_since_has_to_try_again(
    edges: list[Session], isolation: str, start: tuple[str, ...]
) -> None:
    s1, s2 = edges
    job_id, _ = ask(s1, "ann")
    s2.begin(isolation)
    s2.run("select 1")
    s1.begin()
    assert leave(s1, job_id, "ann") == "cancelled"
    s2.start(*start)
    s2.waits_for(s1)
    s1.commit()
    with pytest.raises(SerializationFailure):
        s2.result()
    s2.rollback()

    joined, coalesced = s2.run(*start)[0]
    assert (joined != job_id, coalesced) == (True, False)


def test_nobody_loses_by_another_s_leaving_what_he_has_asked_for(
    stage: Stage, as_edge: str, as_worker: str
) -> None:
    """Callers ask few questions, wait and leave all the time: what they want is never cancelled."""
    lost: list[tuple[str, int, str]] = []
    left: list[str] = []
    errors: list[psycopg.Error] = []
    is_over = threading.Event()

    def come_and_go(actor: str) -> None:
        chance = random.Random(actor)
        with psycopg.connect(as_edge, autocommit=True) as connection:
            for _ in range(150):
                question = json.dumps({"n": chance.randrange(3)})
                try:
                    ((job_id, _),) = connection.execute(SUBMIT, (question, envelope(actor)))
                    if chance.random() < 0.5:
                        connection.execute(WAIT, (job_id, actor))
                    ((seen,),) = connection.execute(AWAIT, (job_id,))
                    if seen in ("cancelled", "cancelling"):
                        lost.append((actor, job_id, seen))
                    ((answer,),) = connection.execute(LEAVE, (job_id, actor))
                    left.append(answer)
                except psycopg.Error as error:
                    errors.append(error)
                    return

    def work() -> None:
        with psycopg.connect(as_worker, autocommit=True) as connection:
            try:
                while not is_over.is_set():
                    for fence in connection.execute(CLAIM_TWO).fetchall():
                        if connection.execute(STOP, fence).fetchone() == (False,):
                            connection.execute("select plane.complete_job(%s, %s)", fence)
            except psycopg.Error as error:
                errors.append(error)

    worker = threading.Thread(target=work)
    callers = [threading.Thread(target=come_and_go, args=(f"caller {n}",)) for n in range(6)]
    for thread in (worker, *callers):
        thread.start()
    for thread in callers:
        thread.join()
    is_over.set()
    worker.join()
    assert errors == []
    assert lost == []
    assert {"cancelled", "done"} <= set(left)
    ended = stage.look("select distinct status from plane.jobs where error ->> 'by' = 'leave_job'")
    assert ended == [("cancelled",)]
