"""Ledgers of any size, made by the ledger's own functions, so that nothing in them is broken."""

import json
from dataclasses import dataclass
from typing import Any

import psycopg

BATCH = 5000


@dataclass(frozen=True)
class Size:
    """How many jobs of a queue are where."""

    finished: int
    scheduled: int
    waiting: int
    pending: int

    def part(self, divisor: int) -> "Size":
        """The same in small."""
        sizes = (self.finished, self.scheduled, self.waiting, self.pending)
        return Size(*(size // divisor for size in sizes))


LARGE = Size(finished=1_000_000, scheduled=100_000, waiting=10_000, pending=50_000)


def fill(url: str, size: Size) -> None:
    """Fill the queue `mail`. The server knows of the finished jobs, of the live ones not yet."""
    with psycopg.connect(url, autocommit=True) as connection:
        _enqueue(connection, size.finished)
        _finish(connection, size.finished)
        connection.execute("vacuum analyze")
        _enqueue(connection, size.scheduled, available_at="2100-01-01T00:00Z")
        _enqueue(connection, size.waiting, serial_key="red")
        _enqueue(connection, size.pending // 2)
        _enqueue(connection, size.pending - size.pending // 2, dedupe_key="key-%s")


def _enqueue(connection: psycopg.Connection, count: int, **settings: Any) -> None:
    for first in range(0, count, BATCH):
        jobs = [
            {"operation": "send", "params": {"n": n}}
            | {name: value.replace("%s", str(n)) for name, value in settings.items()}
            for n in range(first, min(first + BATCH, count))
        ]
        connection.execute(
            "select count(*) from plane.enqueue_many('mail', %s::jsonb)", (json.dumps(jobs),)
        )


def _finish(connection: psycopg.Connection, count: int) -> None:
    for _ in range(0, count, BATCH):
        connection.execute(
            """
            select count(*)
            from (
                select array_agg(c.job_id) as ids, array_agg(c.attempt) as attempts
                from plane.claim('mail', 'w', %s) as c
            ) as held
            cross join plane.complete_jobs(
                held.ids, held.attempts,
                array_fill('{}'::json, array[cardinality(held.ids)])) as done
            """,
            (BATCH,),
        )
