"""The claim loop: woken by a notification, else polling; never more jobs than free slots."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime

from pgplane import ledger, logs
from pgplane.errors import Conflict, LedgerError
from pgplane.ledger.records import Claim
from pgplane.worker.answers import Completion, failure, stopped
from pgplane.worker.connection import WarmConnection
from pgplane.worker.execution import Executor, UnknownOperationError
from pgplane.worker.heartbeat import Heartbeat
from pgplane.worker.held import HeldJob
from pgplane.worker.settlement import BlobsGoneError, Settlement
from pgplane.worker.telemetry import Meter, Run

IDLE_SECONDS = 2.0
OUTAGE_SECONDS = 5.0
LAST_SECONDS = 5.0

log = logs.get("worker")
job_log = logs.get("job")


class ClaimLoop:
    """Claims jobs of one queue and runs them until told to stop."""

    def __init__(
        self,
        connection: WarmConnection,
        *,
        worker: str,
        queue: str,
        executor: Executor,
        settlement: Settlement,
        heartbeat: Heartbeat,
        held: dict[int, HeldJob],
        tell: Callable[[Run], None],
        concurrency: int,
        idle_seconds: float,
        grace_seconds: float,
    ) -> None:
        self._connection = connection
        self._worker = worker
        self._queue = queue
        self._executor = executor
        self._settlement = settlement
        self._heartbeat = heartbeat
        self._held = held
        self._tell = tell
        self._concurrency = concurrency
        self._idle_seconds = idle_seconds
        self._grace_seconds = grace_seconds
        self._tasks: set[asyncio.Task[None]] = set()
        self._wake = asyncio.Event()
        self._stopping = False
        self._hurried = asyncio.Event()

    def wake(self) -> None:
        """There may be work: claim now."""
        self._wake.set()

    def stop(self) -> None:
        """Claim nothing more; asked again, wait for nothing more either."""
        if self._stopping:
            self._hurried.set()
        self._stopping = True
        self._wake.set()

    async def run(self) -> None:
        """Work until stopped, then finish what is held within the grace time, release the rest."""
        pause = self._idle_seconds
        while not self._stopping:
            self._wake.clear()
            free = self._concurrency - len(self._tasks)
            claimed = await self._claim(free) if free else []
            for claim in claimed or ():
                self._start(claim)
            if claimed is None:
                pause = min(max(pause, self._idle_seconds) * 2, OUTAGE_SECONDS)
            elif claimed:
                pause = self._idle_seconds
                continue
            if await self._woken(pause if free else None):
                pause = self._idle_seconds
            elif claimed is not None:
                pause = min(pause * 2, IDLE_SECONDS)
        await self._drain()

    async def _woken(self, seconds: float | None) -> bool:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._wake.wait(), seconds)
        return self._wake.is_set()

    async def _claim(self, free: int) -> list[Claim] | None:
        """Up to `free` jobs; None when the ledger could not be asked."""
        try:
            if free == 1:
                return await self._connection.call(ledger.claim_one, self._queue, self._worker)
            return await self._connection.call(ledger.claim, self._queue, self._worker, free)
        except LedgerError as error:
            log.warning("claim.failed", reason=str(error), sqlstate=error.sqlstate)
            return None

    def _start(self, claim: Claim) -> None:
        self._heartbeat.claimed(claim)
        if (older := self._held.get(claim.job_id)) is not None:
            older.lose()
        held = HeldJob(claim, self._heartbeat.lease_seconds)
        self._held[claim.job_id] = held
        task = asyncio.create_task(self._work(held), name=f"job {claim.job_id}")
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        if len(self._tasks) == self._concurrency:
            self._wake.set()  # the loop waits for a slot, and there may be more
        self._tasks.discard(task)

    async def _work(self, held: HeldJob) -> None:
        claim = held.claim
        meter = Meter(claim, self._heartbeat.lease_seconds)
        queued = datetime.now(UTC) - claim.created_at
        about = {"job_id": claim.job_id, "attempt": claim.attempt, "operation": claim.operation}
        job_log.info(
            "job.started",
            **about,
            queued_ms=round(max(0.0, queued.total_seconds() * 1000), 1),
        )
        cache = None
        try:
            outcome, cache = await self._settle(held)
        except Exception:
            outcome = "unsettled"
            job_log.exception("job.unsettled", **about)
        finally:
            if self._held.get(claim.job_id) is held:
                del self._held[claim.job_id]
        job_log.info("job.finished", **about, outcome=outcome, cache=cache, wall_ms=held.wall_ms)
        self._tell(meter.run(outcome, cache, held.wall_ms))

    async def _settle(self, held: HeldJob) -> tuple[str, str | None]:
        """Run the handler and tell the ledger; the outcome, and where the answer came from."""
        try:
            limit = self._executor.operation(held.claim).timeout_seconds
        except UnknownOperationError as unknown:
            return await self._settlement.fail(held, failure(unknown)), None
        try:
            return await self._run(held, limit)
        except BlobsGoneError as gone:
            job_log.info("answer.expired", job_id=held.claim.job_id)
            self._executor.forget(held.claim, gone.answer)
            return await self._run(held, limit, past_cache=True)

    async def _run(
        self, held: HeldJob, limit: float, *, past_cache: bool = False
    ) -> tuple[str, str | None]:
        execution = asyncio.create_task(self._executor.execute(held.claim, past_cache=past_cache))
        ended = await held.outcome(execution, limit)
        if ended is None:
            job_log.error("handler.deaf", job_id=held.claim.job_id, reason=held.reason)
            execution.add_done_callback(_forsake)
        elif not ended.cancelled():
            error = ended.exception()
            if error is None:
                completion = ended.result()
                return await self._settlement.complete(held, completion), completion.cache
            if isinstance(error, Conflict):  # so the ledger said when it was sent something
                held.lose()
            elif held.reason is None:
                job_log.error("job.failed", job_id=held.claim.job_id, exc_info=error)
                return await self._settlement.fail(held, failure(error)), None
        return await self._settle_stopped(held, limit), None

    async def _settle_stopped(self, held: HeldJob, limit: float) -> str:
        if held.reason == "lost":
            return "lost"
        if held.reason == "shutdown":
            return await self._settlement.release(held)
        if held.reason == "cancelling":
            return await self._settlement.cancelled(held)
        if held.reason == "timeout":
            message = f"the handler ran longer than its {limit:g} s"
            return await self._settlement.fail(held, stopped("TIMEOUT", message))
        return await self._settlement.fail(held, stopped("FAILED", "the handler cancelled itself"))

    async def _drain(self) -> None:
        log.info("worker.draining", held=len(self._tasks), grace_seconds=self._grace_seconds)
        hurried = asyncio.create_task(self._hurried.wait())
        ends = time.monotonic() + self._grace_seconds
        while self._tasks and not hurried.done() and (left := ends - time.monotonic()) > 0:
            await asyncio.wait(
                {*self._tasks, hurried}, timeout=left, return_when=asyncio.FIRST_COMPLETED
            )
        hurried.cancel()
        for held in self._held.values():
            held.stop("shutdown")
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=LAST_SECONDS)


def _forsake(execution: asyncio.Task[Completion]) -> None:
    """A handler that was given up has ended after all: nobody gets to share its blobs."""
    if not execution.cancelled() and execution.exception() is None:
        origin = execution.result().answer.origin
        if origin is not None:
            origin.settle(False)
