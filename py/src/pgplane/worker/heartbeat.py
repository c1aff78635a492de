"""The heartbeat: keeps all held leases in one call, and lends the sweep a hand."""

import asyncio
import random
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime

from pgplane import ledger, logs
from pgplane.errors import LedgerError
from pgplane.worker.connection import WarmConnection
from pgplane.worker.held import HeldJob

LONGEST_SECONDS = 60.0
RETRY_SECONDS = 1.0

log = logs.get("worker")


class Heartbeat:
    """Beats every third of the lease, at most 60 s apart, and whenever `soon()` is called."""

    def __init__(
        self,
        connection: WarmConnection,
        *,
        worker: str,
        queue: str,
        info: str,
        manifest: str,
        held: Mapping[int, HeldJob],
        sweep_seconds: float,
    ) -> None:
        self._connection = connection
        self._worker = worker
        self._queue = queue
        self._info = info
        self._manifest = manifest
        self._held = held
        self._sweep_seconds = sweep_seconds
        self._soon = asyncio.Event()
        self._reachable = True
        self._lease_shortened = False
        self._lease_learnt_at = 0.0
        self.lease_seconds = 0.0

    async def register(self) -> None:
        """Announce the worker and its operations. Raises LedgerError."""
        await self._learn_lease()
        await self._connection.call(ledger.register_manifest, self._queue, self._manifest)

    def soon(self) -> None:
        """Beat now: a cancel may have come in."""
        self._soon.set()

    def saw(self, lease_expires_at: datetime) -> None:
        """A claim's lease: one much shorter than the known says that an admin shortened it.

        Clocks may differ, so what it is now is asked of the ledger, at most once a minute.
        """
        lasts = (lease_expires_at - datetime.now(UTC)).total_seconds()
        asked_ago = time.monotonic() - self._lease_learnt_at
        if lasts < self.lease_seconds * 0.8 and asked_ago > LONGEST_SECONDS:
            self._lease_shortened = True
            self.soon()

    async def run(self) -> None:
        """Beat and sweep for ever; an outage is waited out."""
        beat_at = time.monotonic() + self._interval
        sweep_at = time.monotonic() + self._jittered_sweep
        while True:
            pause = min(beat_at, sweep_at) - time.monotonic()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._soon.wait(), max(0.0, pause))
            try:
                if self._soon.is_set() or time.monotonic() >= beat_at:
                    self._soon.clear()
                    beat_at = time.monotonic() + RETRY_SECONDS
                    await self._beat()
                    beat_at = time.monotonic() + self._interval
                if time.monotonic() >= sweep_at:
                    sweep_at = time.monotonic() + self._jittered_sweep
                    await self._connection.call(ledger.sweep)
            except LedgerError as error:
                if self._reachable:
                    log.warning("heartbeat.failed", reason=str(error), sqlstate=error.sqlstate)
                self._reachable = False

    @property
    def _interval(self) -> float:
        return min(LONGEST_SECONDS, self.lease_seconds / 3)

    @property
    def _jittered_sweep(self) -> float:
        return self._sweep_seconds * random.uniform(0.8, 1.2)  # noqa: S311 - no secret

    async def _beat(self) -> None:
        if not self._reachable:
            await self.register()
            self._reachable = True
            log.info("heartbeat.recovered")
        elif self._lease_shortened:
            await self._learn_lease()
        asked_at = time.monotonic()
        fences = [held.fence for held in self._held.values() if held.renewable]
        for renewal in await self._connection.call(ledger.renew_leases, self._worker, fences):
            held = self._held.get(renewal.job_id)
            if held is None or held.fence not in fences:
                continue
            if renewal.state == "lost":
                held.lose()
                continue
            held.renewed(asked_at, self.lease_seconds)
            if renewal.state == "cancelling" and held.reason is None:
                log.info("job.cancelling", job_id=renewal.job_id, attempt=held.claim.attempt)
                held.stop("cancelling")

    async def _learn_lease(self) -> None:
        lease = await self._connection.call(
            ledger.register_worker, self._worker, self._queue, self._info
        )
        self.lease_seconds = lease.total_seconds()
        self._lease_shortened, self._lease_learnt_at = False, time.monotonic()
