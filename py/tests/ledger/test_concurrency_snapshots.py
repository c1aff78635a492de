"""Callers whose transactions see the past: they are told to try again, and lose nothing by it."""

import random
import threading
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from psycopg.errors import SerializationFailure

from ..support.sessions import Session, Stage
from ..support.steps import CLAIM, COMPLETE, ENQUEUE, claim, complete, enqueue, make_queue, status

pytestmark = pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])

LINE = "select job_id from plane.enqueue('mail', 'send', p_serial_key => 'red')"
BATCH = """select job_id from plane.enqueue_many('mail',
    '[{"operation": "send", "dedupe_key": "a"}, {"operation": "send", "dedupe_key": "b"}]')"""
CANCEL = "select plane.request_cancel(%s, 'ann')"


@pytest.fixture(autouse=True)
def mail(stage: Stage) -> None:
    make_queue(stage)


def poison(stage: Stage, producer: Session, worker: Session) -> int:
    """A job that had one attempt and failed."""
    stage.look("select plane.create_queue('mail', p_max_dequeues => 1)")
    job_id = enqueue(producer)
    assert claim(worker) == (job_id, 1)
    assert worker.value("select plane.fail_job(%s, 1, '{}')", job_id) == "poison"
    return job_id


def look_back(session: Session, isolation: str) -> None:
    """From now on the session sees what is there now."""
    session.begin(isolation)
    session.run("select 1")


def is_told_to_try_again(session: Session, sql: str, *params: Any) -> None:
    with pytest.raises(SerializationFailure):
        session.run(sql, *params)
    session.rollback()


def test_a_key_that_somebody_took_since(producers: list[Session], isolation: str) -> None:
    s1, s2 = producers
    look_back(s1, isolation)
    job_id = enqueue(s2, "a")
    is_told_to_try_again(s1, ENQUEUE, "a")

    assert s1.row(ENQUEUE, "a") == (job_id, True)


def test_a_key_that_somebody_took_since_is_asked_for_by_a_batch(
    producers: list[Session], isolation: str
) -> None:
    s1, s2 = producers
    look_back(s1, isolation)
    job_id = enqueue(s2, "b")
    is_told_to_try_again(s1, BATCH)

    assert s1.run(BATCH)[1] == (job_id,)


def test_a_key_whose_job_ended_since(
    producers: list[Session], workers: list[Session], isolation: str
) -> None:
    s1, _ = producers
    job_id = enqueue(s1, "a")
    assert claim(workers[0]) == (job_id, 1)
    look_back(s1, isolation)
    assert complete(workers[0], job_id, 1)

    is_told_to_try_again(s1, ENQUEUE, "a")

    assert s1.row(ENQUEUE, "a")[1] is False


@pytest.mark.parametrize("sql", [ENQUEUE.replace("%s", "'a'"), BATCH], ids=["one", "batch"])
def test_a_key_whose_job_was_cancelled_since(
    stage: Stage, producers: list[Session], isolation: str, sql: str
) -> None:
    s1, s2 = producers
    job_id = enqueue(s2, "a")
    look_back(s1, isolation)
    stage.look(CANCEL, job_id)
    is_told_to_try_again(s1, sql)

    assert job_id not in s1.run(sql)[0]


def test_a_live_key_is_only_read(
    producers: list[Session], workers: list[Session], isolation: str
) -> None:
    s1, s2 = producers
    job_id = enqueue(s2, "a")
    look_back(s1, isolation)
    assert s1.row(ENQUEUE, "a") == (job_id, True)

    workers[0].run("set lock_timeout = '1ms'")
    assert claim(workers[0]) == (job_id, 1)
    assert complete(workers[0], job_id, 1)
    s1.commit()
    assert s2.row(ENQUEUE, "a")[1] is False, "its completion has freed the key"


def test_a_line_that_somebody_opened_since(
    stage: Stage, producers: list[Session], isolation: str
) -> None:
    s1, s2 = producers
    look_back(s1, isolation)
    s2.run(LINE)
    is_told_to_try_again(s1, LINE)

    assert status(stage, s1.value(LINE)) == "waiting"


def test_a_line_that_ended_since(
    producers: list[Session], workers: list[Session], isolation: str
) -> None:
    s1, s2 = producers
    head = s2.value(LINE)
    assert claim(workers[0]) == (head, 1)
    look_back(s1, isolation)
    assert complete(workers[0], head, 1)
    opened = s1.value(LINE)
    s1.commit()

    assert claim(workers[0]) == (opened, 1)


@pytest.mark.parametrize("handed_on_by", ["read committed", "its own"])
def test_a_line_that_somebody_joined_since(
    stage: Stage,
    producers: list[Session],
    workers: list[Session],
    isolation: str,
    handed_on_by: str,
) -> None:
    s1, s2 = workers
    head = producers[0].value(LINE)
    assert claim(s1) == (head, 1)
    look_back(s1, isolation)
    joined = producers[1].value(LINE)
    assert complete(s1, head, 1)
    s1.commit()

    s2.begin(isolation if handed_on_by == "its own" else handed_on_by)
    assert claim(s2) == (joined, 1)
    assert complete(s2, joined, 1)
    s2.commit()
    assert status(stage, joined) == "done"


def test_an_ended_line_is_tidied_up_by_who_can_tell(
    stage: Stage, producers: list[Session], workers: list[Session], isolation: str
) -> None:
    s1, s2 = workers
    lines = "select (select count(*) from plane.line), (select count(*) from plane.stalled_line)"
    head = producers[0].value(LINE)
    assert claim(s1) == (head, 1)
    s1.begin(isolation)
    assert complete(s1, head, 1)
    assert claim(s1) is None
    s1.commit()
    assert stage.look(lines) == [(1, 1)]

    assert claim(s2) is None
    assert stage.look(lines) == [(0, 0)]


def test_a_job_that_somebody_claimed_since(
    producers: list[Session], workers: list[Session], isolation: str
) -> None:
    first, second = enqueue(producers[0]), enqueue(producers[0])
    s1, s2 = workers
    look_back(s1, isolation)
    assert claim(s2) == (first, 1)
    is_told_to_try_again(s1, CLAIM, "s1")

    assert claim(s1) == (second, 1)


def test_a_lease_that_was_renewed_since(
    producers: list[Session], workers: list[Session], isolation: str
) -> None:
    job_id = enqueue(producers[0])
    s1, s2 = workers
    assert claim(s1) == (job_id, 1)
    look_back(s1, isolation)
    renew = "select state from plane.renew_leases('s1', array[%s]::bigint[], array[1])"
    assert s2.value(renew, job_id) == "held"
    is_told_to_try_again(s1, COMPLETE, job_id, 1, "{}")

    assert complete(s1, job_id, 1)


@pytest.mark.parametrize("ended", [False, True], ids=["claimed", "ended"])
def test_a_job_to_cancel_that_moved_since(
    stage: Stage,
    producers: list[Session],
    workers: list[Session],
    as_admin: str,
    isolation: str,
    ended: bool,
) -> None:
    (admin,) = stage.enter(as_admin)
    job_id = enqueue(producers[0])
    look_back(admin, isolation)
    assert claim(workers[0]) == (job_id, 1)
    if ended:
        assert complete(workers[0], job_id, 1)
    is_told_to_try_again(admin, CANCEL, job_id)

    assert admin.value(CANCEL, job_id) == ("done" if ended else "cancelling")


def test_poison_to_cancel_that_is_retried_since(
    stage: Stage, producers: list[Session], workers: list[Session], as_admin: str, isolation: str
) -> None:
    (admin,) = stage.enter(as_admin)
    job_id = poison(stage, producers[0], workers[0])
    look_back(admin, isolation)
    stage.look("select plane.retry_job(%s)", job_id)
    is_told_to_try_again(admin, CANCEL, job_id)

    assert admin.value(CANCEL, job_id) == "cancelled"


def test_a_queue_that_was_paused_since(stage: Stage, as_admin: str, isolation: str) -> None:
    (admin,) = stage.enter(as_admin)
    look_back(admin, isolation)
    stage.look("select plane.pause_queue('mail')")
    is_told_to_try_again(admin, "select plane.resume_queue('mail')")

    admin.run("select plane.resume_queue('mail')")
    assert stage.look("select paused_at from plane.queues") == [(None,)]


def test_whatever_they_do_at_once_they_may_have_to_try_again_and_nothing_worse(
    queue_db: str, isolation: str
) -> None:
    errors: list[psycopg.Error] = []
    acknowledged: set[int] = set()
    settled: list[int] = []

    def at_work(seed: int) -> None:
        chance = random.Random(seed)
        with psycopg.connect(queue_db) as connection:
            connection.execute(f"set default_transaction_isolation = '{isolation}'")
            connection.commit()
            for _ in range(40):
                call = chance.choice(CALLS)
                while True:
                    try:
                        ids, ended = call(connection, chance)
                        connection.commit()
                        break
                    except (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected):
                        connection.rollback()
                    except psycopg.Error as error:
                        errors.append(error)
                        return
                acknowledged.update(ids)
                settled.extend(ended)

    threads = [threading.Thread(target=at_work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []

    with psycopg.connect(queue_db, autocommit=True) as connection:
        while ended := settle(connection, random.Random(0))[1]:
            settled.extend(ended)
        ends: dict[int, str] = dict(
            connection.execute("select id, status from plane.jobs").fetchall()
        )
        left = "select (select count(*) from plane.line), (select count(*) from plane.live_key)"
        assert connection.execute(left).fetchone() == (0, 0)
    assert acknowledged == set(ends)
    assert sorted(settled) == sorted(ends)
    assert set(ends.values()) == {"done"}


Call = Callable[[psycopg.Connection, random.Random], tuple[list[int], list[int]]]
"""A call; returns the ids that it was given, and those that it ended."""


def ask(connection: psycopg.Connection, chance: random.Random) -> tuple[list[int], list[int]]:
    sql = "select job_id from plane.enqueue('mail', 'send', p_dedupe_key => %s, p_serial_key => %s)"
    keys = (chance.choice([None, "a", "b"]), chance.choice([None, "red"]))
    return [job_id for (job_id,) in connection.execute(sql, keys)], []


def ask_many(connection: psycopg.Connection, chance: random.Random) -> tuple[list[int], list[int]]:
    return [job_id for (job_id,) in connection.execute(BATCH)], []


def settle(connection: psycopg.Connection, chance: random.Random) -> tuple[list[int], list[int]]:
    held = connection.execute(CLAIM, ("w",)).fetchall()
    done = [job_id for job_id, attempt in held if finished(connection, job_id, attempt)]
    assert len(done) == len(held)
    return [], done


def finished(connection: psycopg.Connection, job_id: int, attempt: int) -> bool:
    row = connection.execute(COMPLETE, (job_id, attempt, "{}")).fetchone()
    return row == (True,)


CALLS: list[Call] = [ask, ask, ask_many, settle, settle]
