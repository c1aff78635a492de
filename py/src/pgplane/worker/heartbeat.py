"""The heartbeat: keeps all held leases in one call, and lends the sweep a hand."""

import asyncio
import random
import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress

from pgplane import ledger, logs
from pgplane.errors import LedgerError
from pgplane.ledger.records import Claim
from pgplane.worker.connection import WarmConnection
from pgplane.worker.held import HeldJob

LONGEST_SECONDS = 60.0
RETRY_SECONDS = 1.0
OTHERS = 1000
"""How many of the last cancelled jobs are remembered that were not held when that was heard."""

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
        self._others: deque[str] = deque(maxlen=OTHERS)
        self._reachable = True
        self._lead = 0.0
        self._in_doubt = False
        self.lease_seconds = 0.0

    async def register(self) -> None:
        """Announce the worker and its operations. Raises LedgerError."""
        await self._announce()
        await self._connection.call(ledger.register_manifest, self._queue, self._manifest)

    def soon(self) -> None:
        """Beat now: something may have been missed."""
        self._soon.set()

    def cancelled(self, job_ids: str) -> None:
        """These jobs (as notified, with commas) are cancelled: beat now if one of them is held.

        All workers of all queues hear of each cancel, and this one's claim may be on its way.
        """
        heard = job_ids.split(",")
        if {str(job_id) for job_id in self._held}.isdisjoint(heard):
            self._others.extend(heard)
        else:
            self.soon()

    def claimed(self, claim: Claim) -> None:
        """A claim: its job may have been cancelled already. And where its lease ends sooner or
        later than others did, an admin has changed that.

        Ends are compared with each other, by this process's clock, since the ledger's may differ.
        The first one is beaten for, too: the lease may have changed since it was learnt.
        """
        if str(claim.job_id) in self._others:
            self.soon()
        lead = claim.lease_expires_at.timestamp() - time.monotonic()
        if abs(lead - self._lead) > self.lease_seconds * 0.2:
            self._lead = lead
            self._in_doubt = True
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
        in_doubt, self._in_doubt = self._in_doubt, False
        if not self._reachable:
            await self.register()
            self._reachable = True
            log.info("heartbeat.recovered")
        asked_at = time.monotonic()
        fences = [held.fence for held in self._held.values() if held.renewable]
        for renewal in await self._connection.call(ledger.renew_leases, self._worker, fences):
            if renewal.lease is not None:
                self._learn(renewal.lease.total_seconds())
                in_doubt = False
            held = self._held.get(renewal.job_id)
            if held is None or held.fence not in fences:
                continue
            if renewal.lease is None:
                held.lose()
                continue
            held.renewed(asked_at, self.lease_seconds)
            if renewal.state == "cancelling" and held.reason is None:
                log.info("job.cancelling", job_id=renewal.job_id, attempt=held.claim.attempt)
                held.stop("cancelling")
        if in_doubt:  # what was claimed has ended meanwhile
            await self._announce()

    async def _announce(self) -> None:
        lease = await self._connection.call(
            ledger.register_worker, self._worker, self._queue, self._info
        )
        self._learn(lease.total_seconds())

    def _learn(self, lease_seconds: float) -> None:
        if lease_seconds != self.lease_seconds:
            self.lease_seconds = lease_seconds
            self._lead = 0.0  # no claim with this lease has been seen
