"""The queue database of a worker process, as a superuser looks on."""

import json
import time
from collections.abc import Callable

import psycopg

from ..support.processes import Process
from ..support.workers import ENVELOPE, QUEUE


def prepare(connection: psycopg.Connection) -> None:
    connection.execute(
        "select plane.create_queue(p_queue => %s, p_lease => '30 s', p_backoff => '0 s')", [QUEUE]
    )


class Ledger:
    """The queue database as its superuser sees it."""

    def __init__(self, connection: psycopg.Connection) -> None:
        self.connection = connection

    def enqueue(self, operation: str, **params: object) -> int:
        row = self.connection.execute(
            "select job_id from plane.enqueue(p_queue => %s, p_operation => %s,"
            " p_params => %s::jsonb, p_envelope => %s::jsonb)",
            [QUEUE, operation, json.dumps(params), ENVELOPE],
        ).fetchone()
        assert row is not None
        return int(row[0])

    def held_by(self, worker: Process, operation: str, **params: object) -> int:
        """A new job, once this worker runs it."""
        job_id = self.enqueue(operation, **params)
        worker.event("job.started", job_id=job_id)
        return job_id

    def job(self, job_id: int) -> dict[str, object]:
        cursor = self.connection.execute("select * from plane.jobs where id = %s", [job_id])
        row = cursor.fetchone()
        assert row is not None
        assert cursor.description is not None
        return {column.name: value for column, value in zip(cursor.description, row, strict=True)}

    def set_lease(self, interval: str) -> None:
        self.connection.execute(
            "select plane.create_queue(p_queue => %s, p_lease => %s::interval)", [QUEUE, interval]
        )


def until(holds: Callable[[], bool]) -> None:
    """Look until something holds, for ten seconds at most."""
    ends = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < ends, "it did not come true"
