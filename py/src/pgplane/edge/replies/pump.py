"""The reply pump: who in this process waits for which job, and what tells them of it."""

import asyncio
import re
from collections import defaultdict
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

from pgplane import ledger, logs
from pgplane.edge.access.scopes import name_of
from pgplane.edge.database import QueueDatabase
from pgplane.errors import Busy, LedgerError
from pgplane.ledger.records import Job

log = logs.get("edge")

CHANNELS = ("plane_done", "plane_progress")
TERMINAL = frozenset({"done", "poison", "cancelled"})
MAX_READ = 500
RETRY_SECONDS = 1.0
GATHER_SECONDS = 0.005
MAX_GATHER_SECONDS = 0.05
"""Pause after a read: the first for each job of a burst, never more than the second."""

_JOB_ID = re.compile(r"[0-9]{1,19}")


class Waiter:
    """One caller's wait for one job; `job` is what was last read of it."""

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

    def listen(self, listener: Callable[[Job], None]) -> None:
        """Call `listener` with the row at hand, then with each one read later."""
        self._listener = listener
        if self.job is not None:
            listener(self.job)

    async def until_ended(self, seconds: float) -> bool:
        """Wait until the job has ended, at most so long, or till told to give up; whether so."""
        self.listen(lambda _job: self._enough.set() if self.ended else None)
        try:
            async with asyncio.timeout(seconds):
                await self._enough.wait()
        except TimeoutError:
            pass
        return self.ended

    def give_up(self) -> None:
        """End an `until_ended` now."""
        self._enough.set()


class ReplyPump:
    """Matches completions, and progress, with waiters.

    A notification only says which rows to read: all that arrived since the last read are read by
    one query. One that comes alone is read at once; the more come after it, the longer they are
    gathered. A sweep reads every waiting row, in case a notification was missed.
    """

    def __init__(
        self,
        database: QueueDatabase,
        sweep_seconds: float,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._database = database
        self._sweep_seconds = sweep_seconds
        self._sleep = sleep
        self._waiting: defaultdict[int, set[Waiter]] = defaultdict(set)
        self._unread: set[int] = set()
        self._wake = asyncio.Event()
        self._batch = MAX_READ

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    async def attach(
        self, queue: str, job_id: int, scope_keys: tuple[str, ...], seconds: float
    ) -> Waiter | None:
        """Begin to wait, for `seconds` at most; None: no such job for these keys.

        The order makes sure that no completion slips through: the waiter is noted in the
        database and here, then the row is read past any completion that is under way.
        """
        name = name_of(scope_keys)
        deadline = datetime.now(UTC) + timedelta(seconds=seconds)
        for scope_key in scope_keys:
            if await self._database.call(
                ledger.register_waiter, queue, job_id, scope_key, name, deadline
            ):
                break
        else:
            return None
        waiter = Waiter(queue, job_id, scope_key)
        self._waiting[job_id].add(waiter)
        try:
            job = await self._database.call(ledger.await_job, queue, job_id, scope_key)
        except BaseException:
            self.detach(waiter)
            raise
        if job is None:
            self.detach(waiter)
            return None
        waiter.offer(job)
        return waiter

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
        for word in payload.split(","):
            if _JOB_ID.fullmatch(word) and (job_id := int(word)) in self._waiting:
                self._unread.add(job_id)
        if self._unread:
            self._wake.set()

    def read_all(self) -> None:
        """Read every waiting row again, now."""
        self._unread.update(self._waiting)
        if self._unread:
            self._wake.set()

    async def run(self) -> None:
        """Pump for ever."""
        while True:
            gathered = self._wake.is_set()
            await self._wake.wait()
            self._wake.clear()
            job_ids, self._unread = self._unread, set()
            pause = GATHER_SECONDS * (len(job_ids) if gathered else 1)
            try:
                await self._read(job_ids)
            except LedgerError as error:
                log.warning("replies.read_failed", jobs=len(job_ids), error=error.message)
                self._unread |= job_ids
                self._wake.set()
                await asyncio.sleep(RETRY_SECONDS)
            await self._sleep(min(pause, MAX_GATHER_SECONDS))

    async def sweep(self) -> None:
        """Read every waiting row once in a while, for ever."""
        while True:
            await asyncio.sleep(self._sweep_seconds)
            self.read_all()

    async def _read(self, job_ids: set[int]) -> None:
        wanted: defaultdict[str, set[tuple[int, str]]] = defaultdict(set)
        for job_id in job_ids:
            for waiter in self._waiting.get(job_id, ()):
                if not waiter.ended:
                    wanted[waiter.queue].add((job_id, waiter.scope_key))
        for queue, pairs in wanted.items():
            ordered = list(pairs)
            while some := ordered[: self._batch]:
                try:
                    jobs = await self._database.call(ledger.get_results, queue, some)
                except Busy:  # large results may take longer than a call may: fewer at a time
                    self._batch = max(1, len(some) // 4)
                    raise
                self._batch = min(MAX_READ, self._batch * 2)
                del ordered[: len(some)]
                for job in jobs:
                    self._deliver(queue, job)

    def _deliver(self, queue: str, job: Job) -> None:
        for waiter in list(self._waiting.get(job.job_id, ())):
            if waiter.queue == queue and waiter.scope_key == job.scope_key:
                try:
                    waiter.offer(job)
                except Exception:  # one answer that cannot be told must not silence the others
                    log.exception("reply.crashed", job_id=job.job_id)
