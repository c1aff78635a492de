"""A queue database for the parts that wait for answers: jobs in a dict, whose reads are counted."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from pgplane.edge.replies.pump import MAX_READ
from pgplane.errors import Busy, Unavailable
from pgplane.ledger.records import Job, Seen

QUEUE = "surface-flights"
KEY, OWN = "a" * 64, "b" * 64


def job(job_id: int, status: str = "pending", scope_key: str = KEY) -> Job:
    result = b"{}" if status == "done" else None
    return Job(
        job_id, scope_key, status, None, result, None, None, None, datetime.now(UTC), None, None
    )


class Database:
    """Jobs in a dict, behind the ledger's calls; counts the reads."""

    def __init__(self) -> None:
        self.jobs: dict[int, Job] = {}
        self.calls: list[str] = []
        self.waiters: set[tuple[int, str]] = set()
        self.reads: list[list[tuple[int, str]]] = []
        self.awaited: list[list[tuple[int, str]]] = []
        self.down = False
        self.most = MAX_READ
        self.largest = 0
        self.before_read: Callable[[], None] = lambda: None

    async def call(self, function: Any, *args: Any) -> Any:
        await asyncio.sleep(0)
        self.calls.append(function.__name__)
        if self.down:
            raise Unavailable("the queue database is unreachable")
        answer = getattr(self, function.__name__)(*args)
        await asyncio.sleep(0)
        return answer

    def _see(self, job_id: int, scope_key: str) -> Job | None:
        found = self.jobs.get(job_id)
        return found if found and found.scope_key == scope_key else None

    def register_waiters(
        self, _queue: str, waiting: Sequence[tuple[int, str, str]], _wait: timedelta
    ) -> list[Seen]:
        self.waiters |= {(job_id, waiter) for job_id, _, waiter in waiting}
        return [Seen(job_id, key) for job_id, key, _ in waiting if self._see(job_id, key)]

    def _answers(self, wanted: Sequence[tuple[int, str]], max_bytes: int) -> list[Job]:
        """As the ledger has it: results until their bytes reach the limit."""
        answers, size = [], 0
        for found in filter(None, (self._see(*pair) for pair in wanted)):
            if size < max_bytes:
                size += len(found.result or b"")
                answers.append(found)
            else:
                answers.append(replace(found, result=None, left_out=found.result is not None))
        self.largest = max(self.largest, size)
        return answers

    def await_jobs(
        self, _queue: str, wanted: Sequence[tuple[int, str]], max_bytes: int
    ) -> list[Job]:
        self.before_read()
        self.awaited.append(list(wanted))
        return self._answers(wanted, max_bytes)

    def get_results(
        self, _queue: str, wanted: Sequence[tuple[int, str]], max_bytes: int
    ) -> list[Job]:
        if len(wanted) > self.most:
            raise Busy("the queue database takes too long")
        self.reads.append(list(wanted))
        return self._answers(wanted, max_bytes)
