"""A held job: a claim, the task that runs it, and why that was stopped, if it was."""

import asyncio
import time
from typing import Literal

from pgplane import logs
from pgplane.ledger.records import Claim
from pgplane.worker.answers import Completion

log = logs.get("job")

Reason = Literal["timeout", "lost", "cancelling", "shutdown"]


class HeldJob:
    """One attempt, from its claim to its settlement."""

    def __init__(self, claim: Claim, lease_seconds: float) -> None:
        self.claim = claim
        self.started_at = time.monotonic()
        self.reason: Reason | None = None
        self.stopped_at: float | None = None
        self._lease_seconds = lease_seconds
        self._lease_ends = self.started_at + lease_seconds
        self._stopped = asyncio.Event()

    @property
    def fence(self) -> tuple[int, int]:
        """Job id and attempt."""
        return self.claim.job_id, self.claim.attempt

    @property
    def wall_ms(self) -> float:
        """Milliseconds since the claim."""
        return round((time.monotonic() - self.started_at) * 1000, 1)

    @property
    def lease_seconds_left(self) -> float:
        """How long the lease surely holds, by this process's clock; negative: it may be gone."""
        return self._lease_ends - time.monotonic()

    @property
    def renewable(self) -> bool:
        """Whether the heartbeat still speaks for it.

        Not for a handler beyond its time, nor for one that is deaf to a cancel for a lease: such
        a job must come free without this worker's help.
        """
        if self.reason == "cancelling" and self.stopped_at is not None:
            return time.monotonic() - self.stopped_at < self._lease_seconds
        return self.reason in (None, "shutdown")

    def renewed(self, asked_at: float, lease_seconds: float) -> None:
        """The lease was renewed by a call that began at `asked_at` (monotonic)."""
        self._lease_seconds = lease_seconds
        self._lease_ends = asked_at + lease_seconds

    def stop(self, reason: Reason) -> None:
        """Ask the handler to stop; the first reason stays, but for a lost lease."""
        if self.reason is None or reason == "lost":
            self.reason = reason
        if self.stopped_at is None:
            self.stopped_at = time.monotonic()
        self._stopped.set()

    def lose(self) -> None:
        """The attempt holds the job no longer: its handler works for nobody."""
        log.warning("lease.lost", job_id=self.claim.job_id, attempt=self.claim.attempt)
        self.stop("lost")

    async def outcome(
        self, execution: "asyncio.Task[Completion]", limit: float
    ) -> "asyncio.Task[Completion] | None":
        """Wait for the handler, at most `limit` seconds or until stopped; then stop it.

        The execution, when it has ended; None for a handler that is deaf to its cancellation.
        """
        stop = asyncio.create_task(self._stopped.wait())
        await asyncio.wait({execution, stop}, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()
        if not execution.done():
            self.stop("timeout")
            execution.cancel()
            patience = 1.0 if self.reason == "shutdown" else self._lease_seconds / 2
            await asyncio.wait({execution}, timeout=patience)
        return execution if execution.done() else None
