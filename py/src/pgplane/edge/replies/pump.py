"""The reply pump: who in this process waits for which job, and what tells them of it."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence

from pgplane import ledger, logs
from pgplane.edge.database import QueueDatabase
from pgplane.edge.naming import notified_jobs
from pgplane.edge.replies.arrivals import Arrivals
from pgplane.edge.replies.bursts import pause
from pgplane.edge.replies.waiters import Waiter
from pgplane.errors import Busy, LedgerError
from pgplane.ledger.records import Job

log = logs.get("edge")

CHANNELS = ("plane_done", "plane_progress")
MAX_READ = 500
MAX_BYTES = 8 * 1024**2
"""Bytes of results that are read at a time, and one result above."""

RETRY_SECONDS = 1.0


class ReplyPump:
    """Matches completions, and progress, with waiters.

    A notification only says which rows to read: all that arrived since the last read are read by
    one query. One that comes alone is read at once; the more come after it, the longer they are
    gathered. A sweep reads every waiting row, in case a notification was missed. What there was no
    room for is read next, behind what has come meanwhile: many large answers hold up no other.
    """

    def __init__(
        self,
        database: QueueDatabase,
        sweep_seconds: float,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        *,
        lines: int = 1,
    ) -> None:
        """`lines`: how many of the pool's connections may be busy with those who begin to wait."""
        self._database = database
        self._sweep_seconds = sweep_seconds
        self._sleep = sleep
        self._waiting: defaultdict[int, set[Waiter]] = defaultdict(set)
        self._unread: set[int] = set()
        self._left: dict[int, None] = {}
        self._wake = asyncio.Event()
        self._batch = MAX_READ
        self._arrivals = Arrivals(database, self._admit, self.detach, lines)

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    async def attach(
        self, queue: str, job_id: int, scope_keys: tuple[str, ...], seconds: float
    ) -> Waiter | None:
        """Begin to wait, for `seconds` at most; None: no such job for these keys.

        Those who come at about the same time share what it takes: see `Arrivals`. A waiter whose
        job has an answer that was left out waits for nothing yet: it is to `resume`.
        """
        return await self._arrivals.wait_for(queue, job_id, scope_keys, seconds)

    async def attach_all(
        self, queue: str, job_ids: Sequence[int], scope_keys: tuple[str, ...], seconds: float
    ) -> list[Waiter | None]:
        """`attach` for each of these jobs; all of them, or an error and none."""
        tasks = [
            asyncio.ensure_future(self.attach(queue, job_id, scope_keys, seconds))
            for job_id in job_ids
        ]
        try:
            return list(await asyncio.gather(*tasks))
        except BaseException:
            for task in tasks:
                task.cancel()
            for found in await asyncio.gather(*tasks, return_exceptions=True):
                if isinstance(found, Waiter):
                    self.detach(found)
            raise

    async def until_noted(self, queue: str, job_id: int, name: str) -> None:
        """Wait until this caller is noted wherever he has begun to wait for this job."""
        await self._arrivals.until_noted(queue, job_id, name)

    def resume(self, waiter: Waiter) -> None:
        """Go on with a waiter that is detached: its job is read as soon as there is room."""
        self._admit(waiter)
        self._left[waiter.job_id] = None
        self._wake.set()

    def detach(self, waiter: Waiter) -> None:
        """Forget a waiter; a second call does nothing."""
        waiters = self._waiting.get(waiter.job_id)
        if waiters is not None:
            waiters.discard(waiter)
            if not waiters:
                del self._waiting[waiter.job_id]

    def give_up(self) -> None:
        """End every `until_ended` now: this process is on its way out."""
        for waiters in self._waiting.values():
            for waiter in waiters:
                waiter.give_up()

    def notified(self, _channel: str, payload: str) -> None:
        """Take a notification: job ids, separated by commas."""
        self._read_soon(job_id for job_id in notified_jobs(payload) if job_id in self._waiting)

    def read_all(self) -> None:
        """Read every waiting row again, now."""
        self._read_soon(self._waiting)

    def _admit(self, waiter: Waiter) -> None:
        self._waiting[waiter.job_id].add(waiter)

    def _read_soon(self, job_ids: Iterable[int]) -> None:
        self._unread.update(job_ids)
        if self._unread:
            self._wake.set()

    async def run(self) -> None:
        """Pump for ever."""
        while True:
            gathered = self._wake.is_set()
            await self._wake.wait()
            self._wake.clear()
            job_ids = dict.fromkeys(self._unread.difference(self._left)) | self._left
            self._unread, self._left = set(), {}
            try:
                self._left = await self._read(job_ids) | self._left
            except LedgerError as error:
                log.warning("replies.read_failed", jobs=len(job_ids), error=error.message)
                self._left = job_ids | self._left
                await asyncio.sleep(RETRY_SECONDS)
            if self._left:
                self._wake.set()
            else:
                await self._sleep(pause(len(job_ids), gathered))

    async def sweep(self) -> None:
        """Read every waiting row once in a while, for ever."""
        while True:
            await asyncio.sleep(self._sweep_seconds)
            self.read_all()

    async def _read(self, job_ids: Iterable[int]) -> dict[int, None]:
        """Read and deliver; the jobs that are still to be read, for whom there was no room."""
        wanted: defaultdict[str, dict[tuple[int, str], None]] = defaultdict(dict)
        for job_id in job_ids:
            for waiter in self._waiting.get(job_id, ()):
                if not waiter.ended:
                    wanted[waiter.queue][job_id, waiter.scope_key] = None
        left: dict[int, None] = {}
        for queue, pairs in wanted.items():
            left.update(dict.fromkeys(await self._read_some(queue, list(pairs))))
        return left

    async def _read_some(self, queue: str, pairs: Sequence[tuple[int, str]]) -> list[int]:
        """So many rows and bytes that no more is held than that, the first ones first."""
        some = pairs[: self._batch]
        try:
            jobs = await self._database.call(ledger.get_results, queue, some, MAX_BYTES)
        except Busy:  # large results may take longer than a call may: fewer at a time
            self._batch = max(1, len(some) // 4)
            raise
        self._batch = min(MAX_READ, self._batch * 2)
        for job in jobs:
            if not job.left_out:
                self._deliver(queue, job)
        left_out = [job.job_id for job in jobs if job.left_out]
        return left_out + [job_id for job_id, _ in pairs[len(some) :]]

    def _deliver(self, queue: str, job: Job) -> None:
        for waiter in list(self._waiting.get(job.job_id, ())):
            if waiter.queue == queue and waiter.scope_key == job.scope_key:
                try:
                    waiter.offer(job)
                except Exception:  # one answer that cannot be told must not silence the others
                    log.exception("reply.crashed", job_id=job.job_id)
