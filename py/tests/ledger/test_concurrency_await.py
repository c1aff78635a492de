"""Many jobs are waited for at once, while they are completed by the batch."""

import random
import threading
from collections.abc import Callable

import psycopg
import pytest

from ..support.sessions import Session, Stage
from ..support.steps import complete, make_queue

ENVELOPE = '{"client": "acme", "actor": "ann", "staff": false, "scope": ["north"]}'
SCOPE = """plane.scope_key('acme', '["north"]', false)"""
ASK = """
    select array_agg(s.job_id order by s.job_id)
    from generate_series(1, %s) as n
    cross join lateral
        plane.submit_request('mail', 'ask', jsonb_build_object('n', n), %s::jsonb) as s
"""
MANY = f"%s::bigint[], array_fill({SCOPE}, array[cardinality(%s::bigint[])])"
REGISTER = (
    f"select job_id from plane.register_waiters('mail', {MANY},"
    " array_fill('edge'::text, array[cardinality(%s::bigint[])]), '1 min')"
)
AWAIT = f"select job_id, status from plane.await_jobs('mail', {MANY})"
COMPLETE = """
    select completed
    from plane.complete_jobs(%s::bigint[], array_fill(1, array[cardinality(%s::bigint[])]))
"""

Work = Callable[[psycopg.Connection, list[int]], None]


@pytest.fixture(autouse=True)
def mail(stage: Stage) -> None:
    make_queue(stage)
    stage.look("""select plane.register_manifest('mail', '[{"name": "ask", "version": 1}]')""")
    stage.look("alter function plane.await_jobs reset lock_timeout")


def held(edge: Session, worker: Session, n: int) -> list[int]:
    """So many requests that the worker holds, the oldest first."""
    job_ids: list[int] = edge.value(ASK, n, ENVELOPE)
    assert len(worker.run("select job_id from plane.claim('mail', 'w', %s)", n)) == n
    return job_ids


@pytest.mark.parametrize("committed", [True, False], ids=["committed", "rolled back"])
def test_waiters_that_came_while_a_job_was_being_completed_see_the_answer(
    stage: Stage, as_edge: str, workers: list[Session], committed: bool
) -> None:
    (edge,) = stage.enter(as_edge)
    worker = workers[0]
    first, second = held(edge, worker, 2)
    worker.begin()
    assert complete(worker, second, 1)
    both = [first, second]
    assert edge.run(REGISTER, both, both, both) == [(first,), (second,)]
    edge.start(AWAIT, both, both)
    edge.waits_for(worker)
    worker.run("commit" if committed else "rollback")

    ended = "done" if committed else "in_progress"
    assert edge.result() == [(first, "in_progress"), (second, ended)]


def test_who_waits_for_many_does_not_deadlock_with_who_completes_them(
    stage: Stage, as_edge: str, as_worker: str, workers: list[Session]
) -> None:
    (edge,) = stage.enter(as_edge)
    job_ids = held(edge, workers[0], 600)
    errors: list[psycopg.Error] = []
    completed: list[bool] = []

    def keep(url: str, work: Work, seed: int) -> threading.Thread:
        def run() -> None:
            chance = random.Random(seed)
            with psycopg.connect(url, autocommit=True) as connection:
                for _ in range(60):
                    try:
                        work(connection, chance.sample(job_ids, 40))
                    except psycopg.Error as error:
                        errors.append(error)

        return threading.Thread(target=run)

    def wait_for(connection: psycopg.Connection, some: list[int]) -> None:
        connection.execute(REGISTER, (some, some, some))
        assert len(connection.execute(AWAIT, (some, some)).fetchall()) == len(some)

    def complete_all(connection: psycopg.Connection, some: list[int]) -> None:
        completed.extend(done for (done,) in connection.execute(COMPLETE, (some, some)))

    threads = [keep(as_edge, wait_for, seed) for seed in range(3)]
    threads += [keep(as_worker, complete_all, seed) for seed in range(3, 6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert stage.look("select count(*) from plane.outcome") == [(completed.count(True),)]
