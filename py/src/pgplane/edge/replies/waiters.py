"""Waiters: one caller's wait for one job."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from pgplane.ledger.records import Job

TERMINAL = frozenset({"done", "poison", "cancelled"})


class Waiter:
    """One caller's wait for one job; `job` is what was last read of it.

    Without one, the job has ended, and its answer is still to be read.
    """

    def __init__(self, queue: str, job_id: int, scope_key: str) -> None:
        self.queue = queue
        self.job_id = job_id
        self.scope_key = scope_key
        self.job: Job | None = None
        self._listener: Callable[[Job], None] | None = None
        self._enough = asyncio.Event()

    @property
    def ended(self) -> bool:
        """Whether the job has come to its end."""
        return self.job is not None and self.job.status in TERMINAL

    def offer(self, job: Job) -> None:
        """Take a row as read; an end is never taken back."""
        if not self.ended:
            self.job = job
            if self._listener is not None:
                self._listener(job)

    def forget(self) -> None:
        """Let go of the row at hand, to be read again."""
        self.job = None

    def listen(self, listener: Callable[[Job], None]) -> None:
        """Call `listener` with the row at hand, then with each one read later."""
        self._listener = listener
        if self.job is not None:
            listener(self.job)

    async def until_ended(self, seconds: float) -> bool:
        """Wait until the job has ended, at most so long, or till told to give up; whether so."""
        self.listen(lambda _job: self._enough.set() if self.ended else None)
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._enough.wait()
        return self.ended

    def give_up(self) -> None:
        """End an `until_ended` now."""
        self._enough.set()
