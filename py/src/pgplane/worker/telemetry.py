"""Telemetry: what each execution took, told to the ledger and to a webhook, where one is set.

It is fire and forget: nothing waits for it, and what cannot be told is lost and counted.
"""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pgplane import ledger, logs
from pgplane.ledger.records import Claim
from pgplane.worker.connection import WarmConnection

CAPACITY = 1000
"""Runs that wait to be told; more are lost."""
REST_SECONDS = 5.0
"""How long nothing is told to whom nothing could be told."""
_STATM = Path("/proc/self/statm")

log = logs.get("worker")


@dataclass(frozen=True, slots=True)
class Run:
    """What one execution took; milliseconds, bytes, and None for what is not known."""

    job_id: int
    attempt: int
    operation: str
    version: int | None
    outcome: str
    cache: str | None
    started_at: datetime
    queue_wait_ms: float | None
    wall_ms: float
    cpu_ms: float
    rss_bytes: int | None


Send = Callable[[Run], Awaitable[None]]


class Meter:
    """Measures an execution from its claim on."""

    def __init__(self, claim: Claim, lease_seconds: float) -> None:
        self._claim = claim
        self._lease_seconds = lease_seconds
        self._started_at = datetime.now(UTC)
        self._cpu = time.process_time()

    def run(self, outcome: str, cache: str | None, wall_ms: float) -> Run:
        """The execution, which is over. CPU and memory are the process's, whatever else it did."""
        claim = self._claim
        return Run(
            job_id=claim.job_id,
            attempt=claim.attempt,
            operation=claim.operation,
            version=claim.version,
            outcome=outcome,
            cache=cache,
            started_at=self._started_at,
            queue_wait_ms=self._queue_wait_ms(),
            wall_ms=wall_ms,
            cpu_ms=round((time.process_time() - self._cpu) * 1000, 1),
            rss_bytes=_rss_bytes(),
        )

    def _queue_wait_ms(self) -> float | None:
        """By the ledger's clock alone. Of a later attempt, or of a job that may have been put off,
        it is not known when it could be claimed."""
        claim = self._claim
        if claim.attempt > 1 or claim.cache_key is None:
            return None
        claimed_at = claim.lease_expires_at - timedelta(seconds=self._lease_seconds)
        return max(0.0, round((claimed_at - claim.created_at).total_seconds() * 1000, 1))


class Telemetry:
    """Tells each run to each of these, none waiting for another."""

    def __init__(
        self,
        senders: Mapping[str, Send],
        *,
        capacity: int = CAPACITY,
        rest_seconds: float = REST_SECONDS,
    ) -> None:
        self._lines = [_Line(to, send, capacity, rest_seconds) for to, send in senders.items()]

    def tell(self, run: Run) -> None:
        """To be told soon, or never: returns at once."""
        for line in self._lines:
            line.put(run)

    @property
    def lost(self) -> dict[str, int]:
        """How many runs could not be told, by whom they were for."""
        return {line.to: line.lost for line in self._lines}

    async def run(self) -> None:
        """Tell, for ever."""
        async with asyncio.TaskGroup() as tasks:
            for line in self._lines:
                tasks.create_task(line.run(), name=f"telemetry {line.to}")

    async def flush(self, seconds: float) -> None:
        """Wait until all is told, so long at most."""
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.gather(*(line.join() for line in self._lines)), seconds)


class _Line:
    """One receiver, and what waits for it."""

    def __init__(self, to: str, send: Send, capacity: int, rest_seconds: float) -> None:
        self.to = to
        self.lost = 0
        self._send = send
        self._rest_seconds = rest_seconds
        self._queue: asyncio.Queue[Run] = asyncio.Queue(capacity)
        self._lost_lately = 0

    def put(self, run: Run) -> None:
        try:
            self._queue.put_nowait(run)
        except asyncio.QueueFull:
            self._lose("more runs than could be told")

    async def run(self) -> None:
        while True:
            run = await self._queue.get()
            try:
                await self._send(run)
            except Exception as error:  # whatever it is, it is not worth a job
                self._lose(logs.mask(str(error)) or type(error).__name__)
                failed = True
            else:
                failed = False
                self._recover()
            finally:
                self._queue.task_done()
            if failed:
                await asyncio.sleep(self._rest_seconds)

    async def join(self) -> None:
        await self._queue.join()

    def _lose(self, reason: str) -> None:
        self.lost += 1
        self._lost_lately += 1
        if self._lost_lately == 1:
            log.warning("telemetry.lost", to=self.to, reason=reason)

    def _recover(self) -> None:
        if self._lost_lately:
            log.info("telemetry.recovered", to=self.to, lost=self._lost_lately)
            self._lost_lately = 0


def to_ledger(connection: WarmConnection, queue: str, worker: str) -> Send:
    """Tells the ledger, by a connection that nothing else waits for."""

    async def send(run: Run) -> None:
        await connection.call(
            ledger.record_run,
            queue,
            worker,
            run.job_id,
            run.attempt,
            run.operation,
            run.outcome,
            run.started_at,
            version=run.version,
            cache=run.cache,
            queue_wait_ms=run.queue_wait_ms,
            wall_ms=run.wall_ms,
            cpu_ms=run.cpu_ms,
            rss_bytes=run.rss_bytes,
        )

    return send


def _rss_bytes() -> int | None:
    try:
        return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None
