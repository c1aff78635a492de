"""The oracle while everything is on the move: what is not broken is never said to be."""

import asyncio
import json
import random
from typing import Any

import psycopg
import pytest

from .connections import Connection, connections

SESSIONS = 4
CALLS = 700
"""Of each session; a claim and what becomes of it are one."""

ENVELOPE = json.dumps({"client": "acme", "actor": "ann", "staff": False, "scope": ["north"]})


class Hand:
    """A session that does whatever comes to its mind, and sometimes takes it back."""

    def __init__(self, connection: Connection, seed: int) -> None:
        self.connection = connection
        self.random = random.Random(seed)
        self.name = f"hand{seed}"

    async def work(self) -> None:
        """Do so many things."""
        deeds = [self.enqueue] * 4 + [self.ask, self.batch, self.cancel, self.chore]
        deeds += [self.claim] * 6
        for _ in range(CALLS):
            deed = self.random.choice(deeds)
            if self.random.random() > 0.2:
                await deed()
                continue
            await self.connection.execute("begin")
            try:
                await deed()
                await self.connection.execute(self.pick("commit", "rollback"))
            except psycopg.errors.DeadlockDetected:
                await self.connection.execute("rollback")

    async def call(self, sql: str, *params: Any) -> list[tuple[Any, ...]]:
        cursor = await self.connection.execute(f"select * from plane.{sql}", params or None)
        return await cursor.fetchall()

    def pick(self, *values: Any) -> Any:
        return self.random.choice(values)

    async def enqueue(self) -> None:
        await self.call(
            "enqueue('hot', 'send', p_dedupe_key => %s, p_serial_key => %s, p_priority => %s,"
            " p_available_at => clock_timestamp() + make_interval(secs => %s))",
            self.pick(None, "a", "b", "c"),
            self.pick(None, None, "red", "blue"),
            self.pick(0, 0, -1),
            self.pick(-1, -1, 0.01, 0.05),
        )

    async def ask(self) -> None:
        await self.call(
            "submit_request('hot', 'ask', %s::jsonb, %s::jsonb, p_fresh => %s)",
            json.dumps({"n": self.pick(1, 2)}),
            ENVELOPE,
            self.pick(True, False),
        )

    async def batch(self) -> None:
        jobs = [
            {
                "operation": "send",
                "dedupe_key": self.pick(None, "a", "b", "d"),
                "serial_key": self.pick(None, "red", "green"),
            }
            for _ in range(3)
        ]
        await self.call("enqueue_many('hot', %s::jsonb)", json.dumps(jobs))

    async def cancel(self) -> None:
        cursor = await self.connection.execute(
            "select id from plane.job order by id desc offset %s limit 1", (self.pick(0, 5),)
        )
        for (job_id,) in await cursor.fetchall():
            await self.call("request_cancel(%s, 'ann')", job_id)

    async def chore(self) -> None:
        await self.call(self.pick("sweep()", "retry_poison('hot')", "maintain()"))

    async def claim(self) -> None:
        claimed = await self.call("claim('hot', %s, %s)", self.name, self.pick(1, 1, 3))
        for job_id, attempt, *_ in claimed:
            end = self.pick("complete", "complete", "complete", "fail", "release", "stop", "leave")
            if end == "complete":
                await self.call("complete_job(%s, %s, '1')", job_id, attempt)
            elif end == "fail":
                pause = self.pick("0", "0.02")
                await self.call(
                    "fail_job(%s, %s, '{}', make_interval(secs => %s::float8))",
                    job_id,
                    attempt,
                    pause,
                )
            elif end == "release":
                await self.call("release_job(%s, %s)", job_id, attempt)
            elif end == "stop":
                await self.call("request_cancel(%s, 'ann')", job_id)
                await self.call("finish_cancel(%s, %s)", job_id, attempt)


@pytest.fixture(autouse=True)
def hot(queue_db: str) -> None:
    """The queue of these tests: leases that lapse, budgets that are soon spent."""
    with psycopg.connect(queue_db, autocommit=True) as connection:
        connection.execute(
            "select plane.create_queue('hot', p_lease => '20 ms', p_max_dequeues => 3)"
        )
        connection.execute(
            """select plane.register_manifest('hot', '[{"name": "ask", "version": 1}]')"""
        )


def test_four_sessions_at_work_break_nothing(queue_db: str) -> None:
    async def scenario() -> int:
        done = asyncio.Event()

        async def watch(connection: Connection) -> int:
            looks = 0
            while not done.is_set():
                cursor = await connection.execute(
                    "select problem, job_ids from plane.health() where kind = 'broken'"
                )
                assert await cursor.fetchall() == []
                looks += 1
            return looks

        async with (
            connections(queue_db, SESSIONS) as hands,
            connections(queue_db, 1) as (onlooker,),
        ):
            watching = asyncio.create_task(watch(onlooker))
            await asyncio.gather(*(Hand(hand, seed).work() for seed, hand in enumerate(hands)))
            done.set()
            return await watching

    looks = asyncio.run(scenario())
    assert looks > 20, "too few looks to prove anything"
    with psycopg.connect(queue_db) as connection:
        outcomes = connection.execute("select distinct outcome from plane.attempts").fetchall()
    ways = {"done", "failed", "lapsed", "released", "cancelled"}
    assert ways <= {outcome for (outcome,) in outcomes}, "too few ways of ending to prove anything"
