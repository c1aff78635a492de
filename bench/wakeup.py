"""How long a job lies there until a worker that sleeps on LISTEN has claimed it."""

import random
import threading
import time
from statistics import quantiles

import psycopg
from psycopg.rows import dict_row

from bench.queues import Queue, named
from bench.server import Bench
from bench.worker import arguments

PATIENCE = 10.0
"""Seconds after which a job that nobody claimed is a failure."""

ARGUMENTS = arguments(0)


class Sleeper(threading.Thread):
    """A worker that claims when it is told, until nothing is left, and sleeps again."""

    def __init__(self, url: str, queue: Queue) -> None:
        super().__init__(daemon=True)
        self.queue = queue
        self.connection = psycopg.connect(
            url, autocommit=True, prepare_threshold=0, row_factory=dict_row
        )
        self.connection.execute(f'listen "{queue.channel}"')
        if queue.greet:
            self.connection.execute(named(queue.greet), ARGUMENTS)
        self.connection.execute(named(queue.claim), ARGUMENTS)
        self.claimed_at = 0.0
        self.asleep = threading.Semaphore(0)
        self.stopped = threading.Event()

    def run(self) -> None:
        claim, complete = named(self.queue.claim), named(self.queue.complete)
        while not self.stopped.is_set():
            # to the end: the generator holds the connection while it lives
            if not list(self.connection.notifies(timeout=0.5, stop_after=1)):
                continue
            claimed = False
            while row := self.connection.execute(claim, ARGUMENTS).fetchone():
                self.claimed_at = time.perf_counter()
                self.connection.execute(complete, {**ARGUMENTS, **row})
                claimed = True
            if claimed:
                self.asleep.release()

    def stop(self) -> None:
        self.stopped.set()
        self.join()
        self.connection.close()


def wake_up(bench: Bench, queue: Queue, clients: int, seconds: int) -> dict[str, float]:
    """Enqueue one job after another, each when the worker sleeps again."""
    bench.fresh(queue)
    enqueue = named(queue.enqueue_telling or queue.enqueue)
    sleeper = Sleeper(bench.url, queue)
    took = []
    with psycopg.connect(bench.url, autocommit=True, prepare_threshold=0) as producer:
        sleeper.start()
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            producer.execute(enqueue, ARGUMENTS)
            committed = time.perf_counter()
            if not sleeper.asleep.acquire(timeout=PATIENCE):
                raise RuntimeError(f"{queue.name}: nobody woke up")
            took.append((sleeper.claimed_at - committed) * 1000)
            time.sleep(random.uniform(0.004, 0.012))  # noqa: S311 - no rhythm is wanted
    sleeper.stop()
    if left := bench.left(queue):
        raise RuntimeError(f"{queue.name}: {left} jobs are left")
    cuts = quantiles(took, n=20)
    return {"p50": cuts[9], "p95": cuts[18]}
