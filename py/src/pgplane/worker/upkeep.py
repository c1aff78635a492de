"""Upkeep: now and then, finished work leaves the ledger, and bytes of blobs after it."""

import asyncio
import random
import time

from pgplane import ledger, logs
from pgplane.errors import LedgerError
from pgplane.worker.connection import WarmConnection

PAUSE_SECONDS = 300.0

log = logs.get("worker")


class Upkeep:
    """Maintains the ledger every few minutes, as long as there is something to do.

    Any number of workers may: one works, the others come away at once. Blobs are removed by each,
    `reap_seconds` apart or more. `connection` is upkeep's own, since a step may take long and a
    heartbeat must not wait; between rounds it is closed.
    """

    def __init__(self, connection: WarmConnection, *, reap_seconds: float) -> None:
        self._connection = connection
        self._reap_seconds = reap_seconds
        self._reap_at = time.monotonic()

    async def run(self) -> None:
        """Round after round, for ever; an outage is left to the next one."""
        while True:
            await asyncio.sleep(PAUSE_SECONDS * random.uniform(0.5, 1.5))  # noqa: S311 - no secret
            try:
                for work in (self._maintain, self._reap):
                    try:
                        await work()
                    except LedgerError as error:
                        log.warning("upkeep.failed", reason=str(error), sqlstate=error.sqlstate)
            finally:
                await self._connection.close()

    async def _maintain(self) -> None:
        while await self._step():
            pass

    async def _step(self) -> bool:
        """Whether something was done, so that there may be more."""
        for step, subject in await self._connection.call(ledger.maintain):
            log.info("ledger.maintained", step=step, subject=subject)
            return step != "left"
        return False

    async def _reap(self) -> None:
        if time.monotonic() < self._reap_at:
            return
        while steps := await self._connection.call(ledger.reap_blobs):
            log.info("blobs.reaped", steps=steps)
        self._reap_at = time.monotonic() + self._reap_seconds
