"""Settlement: telling the ledger how an attempt ended, through outages, within its lease."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from pgplane import ledger, logs
from pgplane.errors import Busy, Gone, LedgerError, NotFound, TooLarge, Unavailable
from pgplane.worker.answers import Answer, Completion, failure, too_large
from pgplane.worker.connection import WarmConnection
from pgplane.worker.held import HeldJob

R = TypeVar("R")
RETRY_SECONDS = (0.1, 0.5, 1.0, 2.0)

log = logs.get("job")


class BlobsGoneError(Exception):
    """The answer names blobs of another job that cannot be used any more."""

    def __init__(self, answer: Answer) -> None:
        super().__init__("the blobs of a shared answer are gone")
        self.answer = answer


class Settlement:
    """Settles jobs over one connection. A method returns what became of a job, as logs name it."""

    def __init__(self, connection: WarmConnection) -> None:
        self._connection = connection

    async def complete(self, held: HeldJob, completion: Completion) -> str:
        """`done`, `refused` (an answer too), `lost`, `unsettled`, or a failure's status.

        Raises BlobsGoneError: compute it anew. Who shares blobs of this attempt is told whether it
        completed the job.
        """
        origin, outcome = completion.answer.origin, ""
        try:
            outcome = await self._complete(held, completion)
            return outcome
        except LedgerError as refusal:
            if _is_shared(completion.answer, held) and isinstance(refusal, NotFound | Gone):
                raise BlobsGoneError(completion.answer) from refusal
            log.error("result.rejected", job_id=held.claim.job_id, sqlstate=refusal.sqlstate)
            if isinstance(refusal, TooLarge):  # the same answer would come of every further try
                shorter = too_large(held.claim.operation, completion.answer.size)
                return await self._complete(held, Completion(shorter))
            return await self.fail(held, failure(refusal))
        finally:
            if origin is not None and origin.fence == held.fence:
                origin.settle(outcome in ("done", "refused"))

    async def _complete(self, held: HeldJob, completion: Completion) -> str:
        answer = completion.answer
        blobs_of = answer.origin.job_id if answer.origin and _is_shared(answer, held) else None

        async def call() -> bool:
            return await self._connection.call(
                ledger.complete_job,
                *held.fence,
                result=None if answer.result is None else answer.result.decode(),
                error=None if answer.error is None else answer.error.decode(),
                cache=completion.cache,
                blobs_of=blobs_of,
            )

        completed = await self._within_lease(held, call)
        if completed is None:
            return "unsettled"
        if not completed:
            return "lost"
        return "refused" if answer.error is not None else "done"

    async def fail(self, held: HeldJob, error: str) -> str:
        """`pending`, `poison`, `cancelled`, `lost` or `unsettled`."""

        async def call() -> str:
            return await self._connection.call(ledger.fail_job, *held.fence, error)

        return await self._within_lease(held, call) or "unsettled"

    async def cancelled(self, held: HeldJob) -> str:
        """`cancelled`, `lost` or `unsettled`."""

        async def call() -> bool:
            return await self._connection.call(ledger.finish_cancel, *held.fence)

        finished = await self._within_lease(held, call)
        if finished is None:
            return "unsettled"
        return "cancelled" if finished else "lost"

    async def release(self, held: HeldJob) -> str:
        """`released`, `lost` or `unsettled`."""

        async def call() -> bool:
            return await self._connection.call(ledger.release_job, *held.fence)

        released = await self._within_lease(held, call)
        if released is None:
            return "unsettled"
        return "released" if released else "lost"

    async def _within_lease(self, held: HeldJob, call: Callable[[], Awaitable[R]]) -> R | None:
        """Try until it is done or the lease is over; None then: the lease is the retry."""
        pauses = iter(RETRY_SECONDS)
        while True:
            try:
                return await call()
            except (Unavailable, Busy) as outage:
                pause = next(pauses, RETRY_SECONDS[-1])
                if held.lease_seconds_left < pause:
                    log.error("job.unsettled", job_id=held.claim.job_id, reason=str(outage))
                    return None
                await asyncio.sleep(pause)


def _is_shared(answer: Answer, held: HeldJob) -> bool:
    """Whether it names blobs that another attempt wrote."""
    return answer.origin is not None and answer.origin.fence != held.fence
