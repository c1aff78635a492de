"""Ranges of a few ids come and go under load: every job is done exactly once, none is lost."""

import asyncio
import random
from collections import Counter
from collections.abc import Iterable

import psycopg
import pytest

from ..support.ranges import MAINTAIN, WIDTH
from .connections import Connection, connections

JOBS = 1200
RANGE_IDS = 60

NARROW = f"""
    create or replace function plane._range_is_full() returns boolean language sql volatile
        set search_path = pg_catalog, pg_temp as $$
        select r.upper is null or s.last_value - r.lower > {RANGE_IDS}
            and exists (select from plane.job j where j.id >= r.lower and j.id < r.upper)
        from plane.job_id_seq s
        join plane._ranges() r on r.lower <= s.last_value + 1
        order by r.lower desc
        limit 1
    $$
"""
ENQUEUE = """
    select job_id from plane.enqueue(%s, 'send', p_serial_key => %s,
        p_available_at => case when %s then clock_timestamp() + interval '300 ms' end)
"""
CLAIM = "select job_id, attempt from plane.claim_one(%s, 'w')"


async def enqueue(connection: Connection, numbers: Iterable[int], made: set[int]) -> None:
    dice = random.Random(1)
    for number in numbers:
        serial_key = str(number % 3) if dice.random() < 0.1 else None
        queue = "kept" if dice.random() < 0.1 else "brief"
        cursor = await connection.execute(ENQUEUE, (queue, serial_key, dice.random() < 0.1))
        row = await cursor.fetchone()
        assert row is not None
        made.add(row[0])


async def work(connection: Connection, made: set[int], ended: Counter[int]) -> None:
    """Claims in either isolation, gives up here and there, ends when all are done."""
    dice = random.Random(2)
    while len(made) < JOBS or len(ended) < JOBS:
        old = dice.random() < 0.3
        await connection.execute(
            "begin isolation level " + ("repeatable read" if old else "read committed")
        )
        await connection.execute("select 1")
        try:
            cursor = await connection.execute(CLAIM, (dice.choice(["brief", "kept"]),))
            claimed = await cursor.fetchone()
        except psycopg.errors.SerializationFailure:
            claimed = None
        if claimed is None or dice.random() < 0.05:
            await connection.execute("rollback")
            continue
        await connection.execute("commit")
        if dice.random() < 0.05:
            await connection.execute("select plane.fail_job(%s, %s, '{}')", claimed)
            continue
        cursor = await connection.execute("select plane.complete_job(%s, %s)", claimed)
        assert await cursor.fetchone() == (True,)
        ended[claimed[0]] += 1


async def keep(connection: Connection, made: set[int], ended: Counter[int]) -> Counter[str]:
    steps: Counter[str] = Counter()
    while len(made) < JOBS or len(ended) < JOBS:
        cursor = await connection.execute(MAINTAIN)
        steps.update([row[0] for row in await cursor.fetchall()] or ["nothing"])
        await asyncio.sleep(0.002)
    return steps


@pytest.fixture(autouse=True)
def queues(queue_db: str) -> None:
    with psycopg.connect(queue_db, autocommit=True) as connection:
        connection.execute(
            "select plane.create_queue('brief', p_retention => '0', p_backoff => '50 ms', p_notify"
            " => 'never'), plane.create_queue('kept', p_backoff => '50 ms', p_notify => 'never')"
        )
        connection.execute(NARROW.encode())


def test_each_job_is_done_once_while_ranges_come_and_go(
    queue_db: str, as_producer: str, as_worker: str
) -> None:
    made: set[int] = set()
    ended: Counter[int] = Counter()

    async def scenario() -> Counter[str]:
        async with (
            connections(as_producer, 2) as producers,
            connections(as_worker, 4) as workers,
            asyncio.timeout(120),
            asyncio.TaskGroup() as tasks,
        ):
            numbers = iter(range(JOBS))
            for producer in producers:
                tasks.create_task(enqueue(producer, numbers, made))
            keeper, *others = workers
            for worker in others:
                tasks.create_task(work(worker, made, ended))
            return await keep(keeper, made, ended)

    steps = asyncio.run(scenario())
    assert set(ended) == made
    assert set(ended.values()) == {1}
    assert min(steps["opened"], steps["copied"], steps["removed"]) > 2, steps
    assert max(made) > 3 * WIDTH
    with psycopg.connect(queue_db) as connection:
        seen = connection.execute(
            "select count(*) from plane.jobs where queue = 'brief'"
        ).fetchone()
    assert seen is not None
    assert seen[0] < JOBS / 2, "most have left"
