"""Many sessions at once: what must hold of every call and every row when nobody takes turns."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable

import psycopg
import pytest

from .connections import Connection, connections

SESSIONS = 32
CALLS = 10_000

Hold = Callable[[int, str | None], Awaitable[None]]
"""What a worker does with a job (id, serial key) between its claim and its completion."""


async def keep_completing(
    connection: Connection, name: str, done: asyncio.Event, held: Hold
) -> None:
    """A worker: claim one job, hold it for a moment, complete it; ends when told and drained."""
    while True:
        no_more_to_come = done.is_set()
        cursor = await connection.execute(
            "select job_id, attempt, serial_key from plane.claim_one('hot', %s)", (name,)
        )
        claimed = await cursor.fetchone()
        if claimed is None:
            if no_more_to_come:
                return
            continue
        job_id, attempt, serial_key = claimed
        await held(job_id, serial_key)
        cursor = await connection.execute(
            "select plane.complete_job(%s, %s, p_result => json_build_object('job', %s::bigint))",
            (job_id, attempt, job_id),
        )
        assert await cursor.fetchone() == (True,)


async def at_once(_: int, __: str | None) -> None:
    """Hold a claimed job no longer than it takes to complete it."""


@pytest.fixture(autouse=True)
def hot(queue_db: str) -> None:
    """The queue of these tests, with one operation."""
    with psycopg.connect(queue_db, autocommit=True) as connection:
        connection.execute("select plane.create_queue('hot')")
        connection.execute(
            "select plane.register_manifest('hot', "
            """'[{"name": "ask", "version": 1, "params": {}, "ttl_seconds": 0, """
            """"timeout_seconds": 10, "per_actor": false}]')"""
        )


def test_ten_thousand_calls_with_one_dedupe_key(
    queue_db: str, as_producer: str, as_worker: str
) -> None:
    """32 sessions enqueue one key 10,000 times while four workers keep completing its job."""

    async def scenario() -> set[int]:
        returned: set[int] = set()
        held: set[int] = set()
        calls = iter(range(CALLS))
        done = asyncio.Event()

        async def hold(job_id: int, _: str | None) -> None:
            held.add(job_id)
            await asyncio.sleep(0.001)
            assert held == {job_id}, "two live jobs of one key are held at once"
            held.remove(job_id)

        async def enqueue(connection: Connection) -> None:
            for _ in calls:
                cursor = await connection.execute(
                    "select job_id, coalesced from plane.enqueue('hot', 'ask', p_dedupe_key => 'k')"
                )
                ((job_id, coalesced),) = await cursor.fetchall()
                assert None not in (job_id, coalesced)
                returned.add(job_id)

        async with (
            connections(as_producer, SESSIONS) as producers,
            connections(as_worker, 4) as workers,
            connections(queue_db, 1) as (onlooker,),
        ):
            working = [
                asyncio.create_task(keep_completing(worker, f"w{number}", done, hold))
                for number, worker in enumerate(workers)
            ]
            watching = asyncio.create_task(watch_live_rows(onlooker, done))
            await asyncio.gather(*map(enqueue, producers))
            done.set()
            await asyncio.gather(*working, watching)
        return returned

    returned = asyncio.run(scenario())

    with psycopg.connect(queue_db) as connection:
        answered = connection.execute(
            "select id from plane.jobs where status = 'done' and (result ->> 'job')::bigint = id"
        )
        assert {row[0] for row in answered} == returned
    # one loop serves all: a job takes about three rounds, each of a call by every producer
    assert len(returned) > 50, "the workers kept too few jobs coming and going to prove anything"


async def watch_live_rows(connection: Connection, done: asyncio.Event) -> None:
    """Fails as soon as a look finds two live jobs of the key."""
    looks = 0
    while not done.is_set():
        cursor = await connection.execute(
            "select count(*) from plane.jobs where dedupe_key = 'k'"
            " and status not in ('done', 'poison', 'cancelled')"
        )
        ((live,),) = await cursor.fetchall()
        assert live <= 1
        looks += 1
    assert looks > 10


def test_the_same_question_from_many_sessions_is_answered_to_each(
    as_edge: str, as_worker: str
) -> None:
    """What submit_request returned is readable afterwards under the asker's scope key."""

    async def scenario() -> None:
        envelope = '{"client": "acme", "actor": "ann", "staff": false, "scope": ["north"]}'
        returned: set[int] = set()
        calls = iter(range(1_000))
        done = asyncio.Event()

        async def ask(connection: Connection) -> None:
            for _ in calls:
                cursor = await connection.execute(
                    "select job_id from plane.submit_request('hot', 'ask', '{}', %s::jsonb)",
                    (envelope,),
                )
                ((job_id,),) = await cursor.fetchall()
                returned.add(job_id)

        async with connections(as_edge, 8) as edges, connections(as_worker, 1) as (worker,):
            working = asyncio.create_task(keep_completing(worker, "w", done, at_once))
            await asyncio.gather(*map(ask, edges))
            done.set()
            await working
            answers = await edges[0].execute(
                "select job_id, status, result ->> 'job' from plane.get_results('hot', %s,"
                """ array_fill(plane.scope_key('acme', '["north"]', false), array[%s]))""",
                (list(returned), len(returned)),
            )
            expected = {(job_id, "done", str(job_id)) for job_id in returned}
            assert set(await answers.fetchall()) == expected

    asyncio.run(scenario())


def test_jobs_of_a_serial_key_run_one_at_a_time_and_in_order(
    as_producer: str, as_worker: str
) -> None:
    """Four workers drain the lines of three serial keys, filled by four producers meanwhile."""
    keys = ["red", "green", "blue"]
    jobs_per_key = 40

    async def scenario() -> None:
        joined: dict[str, list[int]] = defaultdict(list)
        begun: dict[str, list[int]] = defaultdict(list)
        holding: dict[str, int] = defaultdict(int)
        filled = asyncio.Event()

        async def fill(connection: Connection, key: str) -> None:
            for _ in range(jobs_per_key):
                cursor = await connection.execute(
                    "select job_id from plane.enqueue('hot', 'ask', p_serial_key => %s)", (key,)
                )
                ((job_id,),) = await cursor.fetchall()
                joined[key].append(job_id)

        async def hold(job_id: int, key: str | None) -> None:
            assert key is not None
            holding[key] += 1
            assert holding[key] == 1, f"two workers hold jobs of {key}"
            begun[key].append(job_id)
            await asyncio.sleep(0)
            holding[key] -= 1

        async with (
            connections(as_producer, len(keys)) as producers,
            connections(as_worker, 4) as workers,
        ):
            working = [
                asyncio.create_task(keep_completing(worker, f"w{number}", filled, hold))
                for number, worker in enumerate(workers)
            ]
            await asyncio.gather(*map(fill, producers, keys))
            filled.set()
            await asyncio.gather(*working)

        assert begun == joined
        assert all(len(begun[key]) == jobs_per_key for key in keys)

    asyncio.run(scenario())
