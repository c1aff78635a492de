"""The measures, one for each row of the tables; each proves that its work was done, or raises."""

from collections.abc import Callable
from dataclasses import dataclass

from bench.pgbench import Run, run
from bench.queues import BULK, Queue
from bench.server import Bench, Spent
from bench.wakeup import wake_up

Sample = dict[str, float]
"""Figures of one queue in one round: `rate` in jobs a second, `wal` in bytes and `cpu` in
microseconds a job; or `p50` and `p95` in milliseconds."""

Take = Callable[[Bench, Queue, int, int], Sample | None]
"""Of this queue, with so many clients, for so many seconds; None where it has no such thing."""


BACKLOG = {1: 4_000, 8: 12_000}
"""Jobs that are there for each second of a drain, by its clients."""


@dataclass(frozen=True)
class Measure:
    """One row of the tables: what is measured, and with how many clients."""

    part: str
    name: str
    clients: int
    take: Take


def enqueue(bench: Bench, queue: Queue, clients: int, seconds: int) -> Sample:
    """Clients that enqueue one job at a time."""
    return _enqueue(bench, queue, f"{queue.enqueue};\n", clients, seconds, 1)


def enqueue_keyed(bench: Bench, queue: Queue, clients: int, seconds: int) -> Sample:
    """The same, each job with a dedupe key of its own."""
    script = f"\\set n :n + 1\n{queue.enqueue_keyed};\n"
    return _enqueue(bench, queue, script, clients, seconds, 1)


def enqueue_bulk(bench: Bench, queue: Queue, clients: int, seconds: int) -> Sample:
    """Clients that enqueue BULK jobs at a time."""
    return _enqueue(bench, queue, queue.enqueue_bulk(), clients, seconds, BULK)


def drain(bench: Bench, queue: Queue, clients: int, seconds: int) -> Sample:
    """Workers that claim one job and complete it, each its own commit."""
    return _drain(bench, queue, clients, seconds, keyed=False)


def drain_keyed(bench: Bench, queue: Queue, clients: int, seconds: int) -> Sample:
    """The same for jobs with dedupe keys."""
    return _drain(bench, queue, clients, seconds, keyed=True)


def drain_batch(n: int, jobs_a_second: int) -> Take:
    """Workers that claim `n` jobs and complete them, until none is left."""

    def take(bench: Bench, queue: Queue, clients: int, seconds: int) -> Sample | None:
        if queue.claim_batch is None:
            return None
        turns = max(1, jobs_a_second * seconds // (n * clients))
        jobs = turns * n * clients
        bench.fresh(queue)
        bench.fill(queue, jobs, keyed=False)
        with bench.spending() as spent:
            done = run(bench, queue.drain_batch(n), clients, transactions=turns, batch=n)
        return _sample(bench, queue, done, n, jobs - done.transactions * n, spent[0])

    return take


def enqueue_claim_complete(bench: Bench, queue: Queue, clients: int, seconds: int) -> Sample:
    """Clients that enqueue a job, claim one and complete it, each its own commit."""
    backlog = 100 * clients
    bench.fresh(queue)
    bench.fill(queue, backlog, keyed=False)
    script = f"{queue.enqueue};\n{queue.drain()}"
    with bench.spending() as spent:
        done = run(bench, script, clients, seconds=seconds)
    return _sample(bench, queue, done, 1, backlog, spent[0])


def _enqueue(
    bench: Bench, queue: Queue, script: str, clients: int, seconds: int, each: int
) -> Sample:
    bench.fresh(queue)
    with bench.spending() as spent:
        done = run(bench, script, clients, seconds=seconds)
    return _sample(bench, queue, done, each, done.transactions * each, spent[0])


def _drain(bench: Bench, queue: Queue, clients: int, seconds: int, *, keyed: bool) -> Sample:
    jobs = seconds * BACKLOG[clients]
    bench.fresh(queue)
    bench.fill(queue, jobs, keyed=keyed)
    with bench.spending() as spent:
        done = run(bench, queue.drain(), clients, seconds=seconds)
    if done.transactions >= jobs:
        raise RuntimeError(f"{queue.name}: the backlog ran dry; raise BACKLOG in measures.py")
    return _sample(bench, queue, done, 1, jobs - done.transactions, spent[0])


def _sample(bench: Bench, queue: Queue, done: Run, each: int, due: int, spent: Spent) -> Sample:
    """The figures of a run of `each` jobs a transaction, after which `due` jobs must be there."""
    left = bench.left(queue)
    if left != due:
        raise RuntimeError(f"{queue.name}: {due} jobs should be there, {left} are")
    jobs = done.transactions * each
    return {"rate": done.rate * each, "wal": spent.wal / jobs, "cpu": spent.cpu / jobs * 1e6}


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
    Measure("wakeup", "commit to claim by a sleeper", 1, wake_up),
    *(
        Measure("notify", "enqueue, claim, complete", clients, enqueue_claim_complete)
        for clients in (1, 8, 32)
    ),
]
