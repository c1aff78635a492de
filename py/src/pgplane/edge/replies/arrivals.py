"""Arrivals: those who begin to wait at about the same time are noted and read together."""

import asyncio
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import timedelta

from pgplane import ledger
from pgplane.edge.access.scopes import name_of
from pgplane.edge.database import QueueDatabase
from pgplane.edge.replies.bursts import pause
from pgplane.edge.replies.waiters import Waiter
from pgplane.errors import Busy

MAX_TOGETHER = 250
MAX_BYTES = 4 * 1024**2
"""Bytes of results that are read at a time for those who arrive, and one result a line above; what
is left out is read by the pump."""

WAIT_STEP = timedelta(seconds=10)
"""Those share a call who wait equally long in these steps, rounded up: those of the ledger."""


class Arrival:
    """One caller on the way to wait for one job; `waiter` is None until it is known to be his."""

    def __init__(
        self, queue: str, job_id: int, scope_keys: tuple[str, ...], seconds: float
    ) -> None:
        self.who = queue, job_id, name_of(scope_keys)
        self.job_id = job_id
        self.scope_keys = scope_keys
        self.wait = max(1, math.ceil(timedelta(seconds=seconds) / WAIT_STEP)) * WAIT_STEP
        self.waiter: Waiter | None = None
        self.noted = asyncio.Event()
        """That the ledger knows of him, or never will."""
        self.read: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def over(self, error: BaseException | None = None) -> None:
        """Let the caller go on, with this error or with what has been read."""
        if self.read.done():
            return
        if error is None:
            self.read.set_result(None)
        else:
            self.read.set_exception(error)


class Arrivals:
    """Notes who comes to wait, then reads their jobs: two calls for all that come together.

    Who comes alone is served at once; the more come after that, the longer they are gathered.
    """

    def __init__(
        self,
        database: QueueDatabase,
        admit: Callable[[Waiter], None],
        dismiss: Callable[[Waiter], None],
        lines: int,
    ) -> None:
        """`admit` makes a waiter hear of its job from then on, `dismiss` ends that. `lines`: how
        many of the pool's connections may be busy with arrivals."""
        self._database = database
        self._admit = admit
        self._dismiss = dismiss
        self._coming: defaultdict[tuple[str, timedelta], list[Arrival]] = defaultdict(list)
        self._lines = asyncio.Semaphore(lines)
        self._max_bytes = MAX_BYTES // lines
        self._under_way: set[Arrival] = set()
        self._resting = False
        self._tasks: set[asyncio.Task[None]] = set()

    async def wait_for(
        self, queue: str, job_id: int, scope_keys: tuple[str, ...], seconds: float
    ) -> Waiter | None:
        """A waiter with its job as read; None: no such job for these keys. Raises LedgerError.

        One without its job is dismissed: the job has ended, by an answer for which there was no
        room.
        """
        arrival = Arrival(queue, job_id, scope_keys, seconds)
        self._coming[queue, arrival.wait].append(arrival)
        self._under_way.add(arrival)
        if not self._resting:
            self._resting = True
            asyncio.get_running_loop().call_soon(self._set_out, False)
        try:
            await arrival.read
        except BaseException:
            if arrival.waiter is not None:
                self._dismiss(arrival.waiter)
            raise
        return arrival.waiter

    async def until_noted(self, queue: str, job_id: int, name: str) -> None:
        """Wait until no arrival of this caller at this job is still to be noted that is under way
        by now: who leaves is not to be followed by an interest that he had before."""
        for arrival in [one for one in self._under_way if one.who == (queue, job_id, name)]:
            await arrival.noted.wait()

    def _set_out(self, gathered: bool) -> None:
        """Take along all who have come by now."""
        count = sum(map(len, self._coming.values()))
        if count == 0:
            self._resting = False
            return
        for (queue, wait), arrivals in self._coming.items():
            for start in range(0, len(arrivals), MAX_TOGETHER):
                together = arrivals[start : start + MAX_TOGETHER]
                task = asyncio.create_task(self._serve(queue, wait, together), name="arrivals")
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
        self._coming.clear()
        asyncio.get_running_loop().call_later(pause(count, gathered), self._set_out, True)

    async def _serve(self, queue: str, wait: timedelta, arrivals: Sequence[Arrival]) -> None:
        """The order makes sure that no completion slips through: the waiters are noted in the
        database and here, then the rows are read past any completion that is under way."""
        try:
            async with self._lines:
                try:
                    await self._note(queue, wait, arrivals)
                finally:
                    for arrival in arrivals:
                        self._under_way.discard(arrival)
                        arrival.noted.set()
                await self._read(queue, [one for one in arrivals if one.waiter is not None])
        except Exception as error:  # each of them is told, whatever it is
            for arrival in arrivals:
                arrival.over(error)
        for arrival in arrivals:
            arrival.over()

    async def _note(self, queue: str, wait: timedelta, arrivals: Sequence[Arrival]) -> None:
        waiting = dict.fromkeys(
            (arrival.job_id, scope_key, name_of(arrival.scope_keys))
            for arrival in arrivals
            for scope_key in arrival.scope_keys
        )
        noted = await self._database.call(ledger.register_waiters, queue, list(waiting), wait)
        seen = set(map(tuple, noted))
        for arrival in arrivals:
            for scope_key in arrival.scope_keys:
                if (arrival.job_id, scope_key) in seen and not arrival.read.done():
                    arrival.waiter = Waiter(queue, arrival.job_id, scope_key)
                    self._admit(arrival.waiter)
                    break

    async def _read(self, queue: str, arrivals: Sequence[Arrival]) -> None:
        waiters = [arrival.waiter for arrival in arrivals if arrival.waiter is not None]
        wanted = list(dict.fromkeys((waiter.job_id, waiter.scope_key) for waiter in waiters))
        if not wanted:
            return
        try:
            jobs = await self._database.call(ledger.await_jobs, queue, wanted, self._max_bytes)
        except Busy:
            # An ending that takes its time, of one of them: the others are not to wait for it. It
            # is told of like any other; where it is not, for this, the sweep finds it.
            jobs = await self._database.call(ledger.get_results, queue, wanted, 0)
        found = {(job.job_id, job.scope_key): job for job in jobs}
        for arrival in arrivals:
            if (waiter := arrival.waiter) is None:
                continue
            job = found.get((waiter.job_id, waiter.scope_key))
            if job is None:
                arrival.waiter = None
            if job is None or job.left_out:
                self._dismiss(waiter)
            else:
                waiter.offer(job)
