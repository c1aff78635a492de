"""Health: whether this edge can serve, and if not, why."""

import time

from pgplane import ledger
from pgplane.edge.database import QueueDatabase
from pgplane.edge.replies.streams import Streams
from pgplane.errors import LedgerError
from pgplane.listener import Listener

REMEMBER_SECONDS = 1.0


class Readiness:
    """The reasons not to send requests here; asked again at most once a second."""

    def __init__(
        self, database: QueueDatabase, listener: Listener | None, streams: Streams
    ) -> None:
        self._database = database
        self._listener = listener
        self._streams = streams
        self._reasons = ["starting"]
        self._asked_at = float("-inf")

    async def reasons(self) -> list[str]:
        """One sentence each; none when all is well."""
        if time.monotonic() - self._asked_at >= REMEMBER_SECONDS:
            self._asked_at = time.monotonic()
            self._reasons = await self._ask()
        return [*self._reasons, *(["shutting down"] if self._streams.draining else [])]

    async def _ask(self) -> list[str]:
        if not self._database.configured:
            return ["no queue database is configured: set PLANE_QUEUE_URL"]
        reasons = []
        try:
            await self._database.call(ledger.scope_key, "readyz", '["readyz"]', False)
        except LedgerError as error:
            reasons.append(f"queue database: {error.message}")
        if self._listener is not None and not self._listener.ready:
            reasons.append(f"listener: {self._listener.reason}")
        return reasons
