"""1,000 jobs a second while an open transaction pins the vacuum horizon."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median, quantiles
from typing import NamedTuple

import psycopg

from bench.pgbench import run
from bench.queues import Queue
from bench.server import Bench, number
from bench.worker import NOW, Done, Worker

RATE = 1000
WORKERS = 4
PRODUCERS = 4
SLICE = 15
"""Seconds."""

WRITER = "insert into elsewhere values (1)"
READER = "select count(*) from plane.jobs"


@dataclass(frozen=True)
class Variant:
    """A queue, and what the open transaction has done."""

    name: str
    queue: Queue
    pin: str = WRITER


class Slice(NamedTuple):
    """What 15 seconds showed; times in milliseconds."""

    rate: float
    """Jobs done a second."""
    claim_p50: float
    claim_p99: float
    whole_p50: float
    """From the enqueue to the completion's commit."""


def run_pinned(bench: Bench, variant: Variant, seconds: int) -> list[Slice]:
    """Run a variant for so long.

    Raises RuntimeError when a job is unaccounted for, or when the horizon was not held.
    """
    queue = variant.queue
    bench.fresh(queue)
    with psycopg.connect(bench.url, autocommit=True) as connection:
        connection.execute("create table elsewhere (n integer)")
    with _pin(bench, variant):
        workers = [Worker(bench.url, queue, client) for client in range(WORKERS)]
        started = time.time()
        for worker in workers:
            worker.start(started + seconds)
        script = queue.enqueue.replace(":payload", NOW) + ";\n"
        enqueued = run(bench, script, PRODUCERS, seconds=seconds, rate=RATE).transactions
        jobs = [job for worker in workers for job in worker.result()]
    left = bench.left(queue)
    if len(jobs) + left != enqueued:
        raise RuntimeError(
            f"{variant.name}: {enqueued} jobs enqueued, {len(jobs)} done, {left} left"
        )
    return [
        _slice([job for job in jobs if at <= job.at - started < at + SLICE])
        for at in range(0, seconds - SLICE + 1, SLICE)
    ]


def thirds(slices: list[Slice]) -> tuple[Slice, Slice]:
    """The medians over the first third of the slices, and over the last."""
    n = max(1, len(slices) // 3)
    first, last = slices[:n], slices[-n:]
    return Slice(*map(median, zip(*first, strict=True))), Slice(
        *map(median, zip(*last, strict=True))
    )


def _slice(jobs: list[Done]) -> Slice:
    if len(jobs) < 2:
        return Slice(len(jobs) / SLICE, *[float("nan")] * 3)
    claims = quantiles((job.claim * 1000 for job in jobs), n=100)
    return Slice(
        len(jobs) / SLICE, claims[49], claims[98], median(job.whole * 1000 for job in jobs)
    )


@contextmanager
def _pin(bench: Bench, variant: Variant) -> Iterator[None]:
    """Keep a transaction open; at its end, prove that it held the horizon back."""
    with psycopg.connect(bench.url) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.execute(variant.pin)
        seen = number(bench.admin, "select txid_current()")
        yield
        held = number(
            bench.admin,
            f"""
            select count(*) from pg_stat_activity
            where pid = {connection.info.backend_pid} and state = 'idle in transaction'
                and txid_current() - age(coalesce(backend_xid, backend_xmin)) <= {seen}""",
        )
        if not held:
            raise RuntimeError(f"{variant.name}: the horizon was not held")
