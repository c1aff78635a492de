"""A job is cancelled while it is claimed, completed, moved or asked for again."""

import threading

import psycopg
import pytest

from ..support.sessions import Session, Stage
from ..support.steps import COMPLETE, ENQUEUE, RENEW, claim, complete, enqueue, make_queue, status

CANCEL = "select plane.request_cancel(%s, 'ann')"
SERIAL = "select job_id from plane.enqueue('mail', 'send', p_serial_key => 'line')"


@pytest.fixture(autouse=True)
def mail(stage: Stage) -> None:
    make_queue(stage)


@pytest.fixture
def admins(stage: Stage, as_admin: str) -> list[Session]:
    """Two sessions of an admin."""
    return stage.enter(as_admin, as_admin)


@pytest.mark.parametrize("committed", [True, False], ids=["committed", "rolled back"])
def test_a_cancel_waits_for_the_claim_under_way(
    stage: Stage,
    producers: list[Session],
    workers: list[Session],
    admins: list[Session],
    committed: bool,
) -> None:
    admin, worker = admins[0], workers[0]
    job_id = enqueue(producers[0])
    worker.begin()
    assert claim(worker) == (job_id, 1)
    admin.start(CANCEL, job_id)
    admin.waits_for(worker)
    worker.run("commit" if committed else "rollback")

    assert admin.result() == [("cancelling" if committed else "cancelled",)]
    assert status(stage, job_id) == ("cancelling" if committed else "cancelled")


@pytest.mark.parametrize("committed", [True, False], ids=["committed", "rolled back"])
def test_a_cancel_waits_for_the_completion_under_way(
    stage: Stage,
    producers: list[Session],
    workers: list[Session],
    admins: list[Session],
    committed: bool,
) -> None:
    admin, worker = admins[0], workers[0]
    job_id = enqueue(producers[0], "key")
    claim(worker)
    worker.begin()
    assert complete(worker, job_id, 1)
    admin.start(CANCEL, job_id)
    admin.waits_for(worker)
    worker.run("commit" if committed else "rollback")

    assert admin.result() == [("done" if committed else "cancelling",)]
    assert status(stage, job_id) == ("done" if committed else "cancelling")


def test_a_completion_during_a_cancel_counts(
    stage: Stage, producers: list[Session], workers: list[Session], admins: list[Session]
) -> None:
    admin, worker = admins[0], workers[0]
    job_id = enqueue(producers[0])
    claim(worker)
    admin.begin()
    assert admin.value(CANCEL, job_id) == "cancelling"
    worker.start(COMPLETE, job_id, 1, "1")
    worker.waits_for(admin)
    admin.commit()

    assert worker.result() == [(True,)]
    assert status(stage, job_id) == "done"


def test_two_cancels_of_one_job_are_one(
    stage: Stage, producers: list[Session], admins: list[Session]
) -> None:
    s1, s2 = admins
    job_id = enqueue(producers[0])
    s1.begin()
    assert s1.value(CANCEL, job_id) == "cancelled"
    s2.start("select plane.request_cancel(%s, 'bob')", job_id)
    s2.waits_for(s1)
    s1.commit()

    assert s2.result() == [("cancelled",)]
    assert stage.look("select error ->> 'by' from plane.jobs") == [("ann",)]


def test_a_claim_passes_a_job_that_is_being_cancelled(
    producers: list[Session], workers: list[Session], admins: list[Session]
) -> None:
    admin, worker = admins[0], workers[0]
    first, second = enqueue(producers[0]), enqueue(producers[0])
    admin.begin()
    assert admin.value(CANCEL, first) == "cancelled"
    assert claim(worker) == (second, 1)
    assert claim(worker) is None
    admin.rollback()
    assert claim(worker) == (first, 1)


def test_the_next_of_a_line_may_be_cancelled_while_the_head_ends(
    stage: Stage, producers: list[Session], workers: list[Session], admins: list[Session]
) -> None:
    producer, worker, admin = producers[0], workers[0], admins[0]
    head, second, third = (producer.value(SERIAL) for _ in range(3))
    assert claim(worker) == (head, 1)
    admin.begin()
    assert admin.value(CANCEL, second) == "cancelled"
    worker.run("set lock_timeout = '1s'")
    assert complete(worker, head, 1), "a completion waits for no admin"
    assert claim(worker) is None
    admin.commit()

    assert claim(worker) == (third, 1), "the line is not lost"
    assert status(stage, second) == "cancelled"


def test_the_next_of_a_line_may_be_pulled_forward_while_the_head_ends(
    producers: list[Session], workers: list[Session]
) -> None:
    application, producer = producers
    worker = workers[0]
    keyed = (
        "select job_id from plane.enqueue('mail', 'send', p_serial_key => 'line',"
        " p_dedupe_key => 'second', p_priority => %s)"
    )
    head, second = producer.value(SERIAL), producer.value(keyed, 0)
    assert claim(worker) == (head, 1)
    application.begin()
    assert application.value(keyed, -1) == second
    worker.run("set lock_timeout = '1s'")
    assert complete(worker, head, 1), "a completion waits for no enqueuer"
    application.commit()
    assert claim(worker) == (second, 1)


def test_a_cancel_waits_for_the_line_to_be_handed_on(
    stage: Stage, producers: list[Session], workers: list[Session], admins: list[Session]
) -> None:
    producer, worker, admin = producers[0], workers[0], admins[0]
    head, second, third = (producer.value(SERIAL) for _ in range(3))
    assert claim(worker) == (head, 1)
    worker.begin()
    assert complete(worker, head, 1)
    admin.start(CANCEL, second)
    admin.waits_for(worker)
    worker.commit()

    assert admin.result() == [("cancelled",)]
    assert claim(worker) == (third, 1), "the line has been handed on once more"


def test_a_heartbeat_waits_only_for_the_cancel_itself(
    producers: list[Session], workers: list[Session], admins: list[Session]
) -> None:
    """A cancel holds the lease for its own transaction, and takes nothing that it waits for."""
    producer, worker, admin = producers[0], workers[0], admins[0]
    job_id = enqueue(producer, "key")
    claim(worker)
    producer.begin()
    enqueue(producer, "key")
    admin.run("set lock_timeout = '1s'")
    assert admin.value(CANCEL, job_id) == "cancelling"
    worker.run("set lock_timeout = '1s'")
    assert worker.value(RENEW, worker.name, job_id) == "cancelling"


def test_who_asks_during_a_cancel_has_an_answer(
    stage: Stage, producers: list[Session], workers: list[Session], admins: list[Session]
) -> None:
    producer, worker, admin = producers[0], workers[0], admins[0]
    job_id = enqueue(producer, "key")
    claim(worker)
    admin.begin()
    assert admin.value(CANCEL, job_id) == "cancelling"
    assert producer.row(ENQUEUE, "key") == (job_id, True), "it is not cancelled yet"
    admin.commit()
    new, coalesced = producer.row(ENQUEUE, "key")
    assert (new != job_id, coalesced) == (True, False)
    assert producer.row(ENQUEUE, "key") == (new, True)
    assert complete(worker, job_id, 1)
    assert producer.row(ENQUEUE, "key") == (new, True), "the old job's end leaves the key alone"


def test_a_key_that_a_cancel_could_not_free_is_free_all_the_same(
    stage: Stage,
    queue_db: str,
    producers: list[Session],
    workers: list[Session],
    admins: list[Session],
) -> None:
    """Somebody was taking the key over and rolled back, so it still names the cancelled job."""
    (taker,) = stage.enter(queue_db)
    job_id = enqueue(producers[0], "key")
    claim(workers[0])
    taker.begin()
    taker.run("select from plane.live_key for update")
    assert admins[0].value(CANCEL, job_id) == "cancelling"
    taker.rollback()

    new, coalesced = producers[0].row(ENQUEUE, "key")
    assert (new != job_id, coalesced) == (True, False)


def test_a_waiter_that_came_during_a_cancel_is_told(
    stage: Stage, queue_db: str, as_edge: str, admins: list[Session]
) -> None:
    stage.look("select plane.create_queue('mail', p_notify => 'waiters')")
    stage.look("""select plane.register_manifest('mail', '[{"name": "send", "version": 1}]')""")
    (edge,) = stage.enter(as_edge)
    job_id = edge.value(
        "select job_id from plane.submit_request('mail', 'send', '{}',"
        """ '{"client": "acme", "actor": "ann", "staff": false, "scope": ["north"]}')"""
    )
    key = edge.value("select plane.scope_key('acme', '[\"north\"]', false)")
    with psycopg.connect(queue_db, autocommit=True) as listener:
        listener.execute("listen plane_done")
        admins[0].begin()
        assert admins[0].value(CANCEL, job_id) == "cancelled"
        wait = "select plane.register_waiter('mail', %s, %s, 'edge-1', '1 min')"
        assert edge.value(wait, job_id, key)
        read = "select status from plane.await_job('mail', %s, %s)"
        assert edge.value(read, job_id, key) == "pending"
        admins[0].commit()
        told = list(listener.notifies(timeout=5, stop_after=1))
    assert [notice.payload for notice in told] == [str(job_id)]


def test_cancels_among_claims_and_completions_end_every_job_once(
    stage: Stage, as_producer: str, as_worker: str, as_admin: str
) -> None:
    with psycopg.connect(as_producer, autocommit=True) as connection:
        ids = [
            row[0]
            for n in range(300)
            for row in connection.execute(
                "select job_id from plane.enqueue('mail', 'send', p_serial_key => %s,"
                " p_dedupe_key => %s)",
                (f"line {n % 7}" if n % 3 else None, f"key {n}"),
            )
        ]
    answers: dict[int, str] = {}
    errors: list[psycopg.Error] = []

    def work(name: str) -> None:
        with psycopg.connect(as_worker, autocommit=True) as connection:
            for _ in range(400):
                try:
                    for job_id, attempt in connection.execute(
                        "select job_id, attempt from plane.claim('mail', %s, 3)", (name,)
                    ).fetchall():
                        connection.execute("select plane.complete_job(%s, %s)", (job_id, attempt))
                except psycopg.Error as error:
                    errors.append(error)

    def cancel() -> None:
        with psycopg.connect(as_admin, autocommit=True) as connection:
            for job_id in ids[::2]:
                try:
                    for (answer,) in connection.execute(CANCEL, (job_id,)):
                        answers[job_id] = answer
                except psycopg.Error as error:
                    errors.append(error)

    threads = [threading.Thread(target=work, args=(f"w{n}",)) for n in range(3)]
    threads.append(threading.Thread(target=cancel))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []

    with psycopg.connect(as_worker, autocommit=True) as connection:
        while rows := connection.execute(
            "select job_id, attempt from plane.claim('mail', 'last', 100)"
        ).fetchall():
            for job_id, attempt in rows:
                connection.execute("select plane.complete_job(%s, %s)", (job_id, attempt))
    ended: dict[int, str] = dict(stage.look("select id, status from plane.jobs"))
    assert set(ended) == set(ids)
    assert set(ended.values()) <= {"done", "cancelled"}
    for job_id, answer in answers.items():
        assert ended[job_id] == (answer if answer != "cancelling" else "done")
    for table in ("line", "live_key", "waiting", "ready", "lease"):
        assert stage.look(f"select count(*) from plane.{table}") == [(0,)], table
