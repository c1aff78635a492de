"""The measures that are a rate of jobs; each proves that its work was done, or raises."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from bench.pgbench import Run, run
from bench.queues import BULK, Queue
from bench.server import Bench


class Sample(NamedTuple):
    """One figure of one round."""

    rate: float
    """Jobs a second."""
    wal: float
    """Bytes of write-ahead log a job."""
    cpu: float
    """Microseconds of the backends' CPU a job."""


@dataclass(frozen=True)
class Measure:
    """One row of the tables: what is measured, and with how many clients."""

    part: str
    name: str
    clients: int
    take: Callable[[Bench, Queue, int, int], Sample]
    """Of this queue, with so many clients, for so many seconds."""


def enqueue(bench: Bench, queue: Queue, clients: int, seconds: int) -> Sample:
    """Clients that enqueue one job at a time."""
    bench.fresh(queue)
    return _enqueued(bench, queue, run(bench, f"{queue.enqueue};\n", clients, seconds=seconds), 1)


def enqueue_keyed(bench: Bench, queue: Queue, clients: int, seconds: int) -> Sample:
    """The same, each job with a dedupe key of its own."""
    bench.fresh(queue)
    script = f"\\set n :n + 1\n{queue.enqueue_keyed};\n"
    return _enqueued(bench, queue, run(bench, script, clients, seconds=seconds), 1)


def enqueue_bulk(bench: Bench, queue: Queue, clients: int, seconds: int) -> Sample:
    """Clients that enqueue BULK jobs at a time."""
    bench.fresh(queue)
    return _enqueued(bench, queue, run(bench, queue.enqueue_bulk(), clients, seconds=seconds), BULK)


def drain(bench: Bench, queue: Queue, clients: int, seconds: int) -> Sample:
    """Workers that claim one job and complete it, each its own commit."""
    return _drain(bench, queue, clients, seconds, keyed=False)


def drain_keyed(bench: Bench, queue: Queue, clients: int, seconds: int) -> Sample:
    """The same for jobs with dedupe keys."""
    return _drain(bench, queue, clients, seconds, keyed=True)


def _drain(bench: Bench, queue: Queue, clients: int, seconds: int, *, keyed: bool) -> Sample:
    jobs = seconds * (4_000 if clients == 1 else 12_000)
    bench.fresh(queue)
    bench.fill(queue, jobs, keyed=keyed)
    done = run(bench, queue.drain(), clients, seconds=seconds)
    return _drained(bench, queue, done, 1, jobs)


def drain_batch(n: int, jobs_a_second: int) -> Callable[[Bench, Queue, int, int], Sample]:
    """Workers that claim `n` jobs and complete them, until none is left."""

    def take(bench: Bench, queue: Queue, clients: int, seconds: int) -> Sample:
        turns = max(1, jobs_a_second * seconds // (n * clients))
        jobs = turns * n * clients
        bench.fresh(queue)
        bench.fill(queue, jobs, keyed=False)
        done = run(bench, queue.drain_batch(n), clients, transactions=turns)
        return _drained(bench, queue, done, n, jobs)

    return take


def _enqueued(bench: Bench, queue: Queue, done: Run, each: int) -> Sample:
    jobs = done.transactions * each
    left = bench.left(queue)
    if left != jobs:
        raise RuntimeError(f"{queue.name}: {jobs} jobs enqueued, {left} there")
    return _sample(done, each)


def _drained(bench: Bench, queue: Queue, done: Run, each: int, jobs: int) -> Sample:
    left, due = bench.left(queue), jobs - done.transactions * each
    if left != due:
        raise RuntimeError(f"{queue.name}: {due} of {jobs} jobs should be left, {left} are")
    return _sample(done, each)


def _sample(done: Run, each: int) -> Sample:
    jobs = done.transactions * each
    return Sample(done.rate * each, done.spent.wal / jobs, done.spent.cpu / jobs * 1e6)


MEASURES = [
    Measure("enqueue", "enqueue", 1, enqueue),
    Measure("enqueue", "enqueue", 8, enqueue),
    Measure("enqueue", "enqueue, dedupe key", 1, enqueue_keyed),
    Measure("enqueue", "enqueue, dedupe key", 8, enqueue_keyed),
    Measure("bulk", f"enqueue {BULK} at a time", 1, enqueue_bulk),
    Measure("drain", "drain one by one", 1, drain),
    Measure("drain", "drain one by one", 8, drain),
    Measure("drain", "drain one by one, dedupe key", 1, drain_keyed),
    Measure("drain", "drain one by one, dedupe key", 8, drain_keyed),
    Measure("batch", "drain 10 at a time", 2, drain_batch(10, 8_000)),
    Measure("batch", "drain 100 at a time", 2, drain_batch(100, 20_000)),
    Measure("batch", "drain 1000 at a time", 2, drain_batch(1000, 30_000)),
]
