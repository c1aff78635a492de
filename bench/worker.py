"""A worker in a process of its own: claims one job at a time and completes it."""

import json
import multiprocessing
import time
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import psycopg
from psycopg.rows import dict_row

from bench.queues import PAYLOAD, RESULT, Queue, named

PAUSE = 0.005
"""Seconds after which a worker that found nothing looks again."""

NOW = "(jsonb_build_object('at', extract(epoch from clock_timestamp()))::text)"
"""A payload that tells when it was enqueued."""


class Done(NamedTuple):
    """What became of one job; times in seconds."""

    at: float
    """When its completion was committed, by the wall clock."""
    claim: float
    """How long the claim took."""
    whole: float
    """From its enqueue to that commit."""


def arguments(client_id: int) -> dict[str, Any]:
    """The variables of every statement, as pgbench has them."""
    return {"client_id": client_id, "payload": PAYLOAD, "result": RESULT, "batch": 1}


class Worker:
    """Our side of the process; it is connected when this returns."""

    def __init__(self, url: str, queue: Queue, client_id: int) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(
            target=work,
            args=(url, named(queue.claim), named(queue.complete), client_id, theirs),
            daemon=True,
        )
        self.process.start()
        theirs.close()
        self.pipe.recv()

    def start(self, until: float) -> None:
        """Work until this time, by the wall clock."""
        self.pipe.send(until)

    def result(self) -> list[Done]:
        """What it did, once it has stopped."""
        done: list[Done] = self.pipe.recv()
        self.process.join()
        return done


def work(url: str, claim: str, complete: str, client_id: int, pipe: Connection) -> None:
    """What runs in the process."""
    known = arguments(client_id)
    jobs = []
    with psycopg.connect(
        url, autocommit=True, prepare_threshold=0, row_factory=dict_row
    ) as connection:
        pipe.send("connected")
        until = pipe.recv()
        while time.time() < until:
            began = time.perf_counter()
            row = connection.execute(claim, known).fetchone()
            claimed = time.perf_counter() - began
            if row is None:
                time.sleep(PAUSE)
                continue
            connection.execute(complete, {**known, **row})
            now = time.time()
            jobs.append(Done(now, claimed, now - _enqueued_at(row["payload"])))
    pipe.send(jobs)


def _enqueued_at(payload: dict[str, float] | bytes) -> float:
    return float((json.loads(payload) if isinstance(payload, bytes) else payload)["at"])
