"""The listener: one dedicated connection per process that hears notifications, and proves it."""

import asyncio
import secrets
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

import psycopg

from pgplane import logs, session

OnNotification = Callable[[str, str], None]
"""Called with channel and payload; must not block."""
OnConnect = Callable[[], None]
"""Called whenever notifications may have been missed before now: read again."""

RECONNECT_SECONDS = (2.0, 5.0)
PROBE_SECONDS = 15.0
ANSWER_SECONDS = 5.0
_PROOF = "plane_echo"

log = logs.get("listener")


class Listener:
    """Keeps one LISTEN connection alive and calls back.

    It is ready once a notification that it sent to itself came back on this connection; a
    transaction-mode pooler, or a half-open connection, never gets there, and `reason` says so.
    The same proof is asked for again whenever the line was silent for `probe_seconds`.
    """

    def __init__(
        self,
        url: str,
        channels: Sequence[str],
        *,
        on_notification: OnNotification,
        on_connect: OnConnect,
        application_name: str = "pgplane listener",
        probe_seconds: float = PROBE_SECONDS,
        answer_seconds: float = ANSWER_SECONDS,
        reconnect_seconds: Sequence[float] = RECONNECT_SECONDS,
    ) -> None:
        self._url = url
        self._channels = tuple(channels)
        self._on_notification = on_notification
        self._on_connect = on_connect
        self._application_name = application_name
        self._probe_seconds = probe_seconds
        self._answer_seconds = answer_seconds
        self._reconnect_seconds = tuple(reconnect_seconds)
        self._task: asyncio.Task[None] | None = None
        self._ready = asyncio.Event()
        self.reason: str | None = "not started"

    @property
    def ready(self) -> bool:
        """Whether notifications are known to come back."""
        return self._ready.is_set()

    async def start(self) -> None:
        """Begin to listen in the background; returns at once."""
        self.reason = "connecting"
        self._task = asyncio.create_task(self._keep_listening(), name="listener")

    async def wait_ready(self, seconds: float) -> bool:
        """Wait until ready, at most so long; whether it is."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._ready.wait(), seconds)
        return self.ready

    async def stop(self) -> None:
        """Stop listening and close the connection."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
            self._task = None
        self._lost("stopped")

    def _lost(self, reason: str) -> None:
        self._ready.clear()
        self.reason = reason

    async def _keep_listening(self) -> None:
        failures = 0
        while True:
            try:
                await self._listen()
            except (psycopg.Error, OSError, TimeoutError) as error:
                failures = 1 if self.ready else failures + 1
                reason = self._explain(error)
                self._lost(reason)
                pause = self._reconnect_seconds[min(failures, len(self._reconnect_seconds)) - 1]
                log.warning("listener.lost", reason=reason, retry_seconds=pause)
                await asyncio.sleep(pause)
            except Exception:
                self._lost("a fault nobody foresaw")
                pause = self._reconnect_seconds[-1]
                log.exception("listener.lost", reason=self.reason, retry_seconds=pause)
                await asyncio.sleep(pause)

    def _explain(self, error: Exception) -> str:
        if not isinstance(error, TimeoutError):
            return f"cannot listen: {str(error).strip() or type(error).__name__}"
        if self.ready:
            return "the connection went silent"
        return (
            "notifications do not come back: LISTEN needs a direct connection,"
            " not a transaction-mode pooler (PLANE_LISTEN_URL)"
        )

    async def _listen(self) -> None:
        connection = await session.connect(self._url, application_name=self._application_name)
        try:
            async with session.breaking_off(connection, self._answer_seconds):
                await session.listen(connection, (*self._channels, _PROOF))
            await self._hear(connection)
        finally:
            await connection.close()

    async def _hear(self, connection: session.Connection) -> None:
        token = await self._ask(connection)
        asked = True
        heard = time.monotonic()
        while True:
            patience = self._answer_seconds if asked else self._probe_seconds
            async for notification in connection.notifies(timeout=patience, stop_after=1):
                heard = time.monotonic()
                if notification.channel != _PROOF:
                    self._on_notification(notification.channel, notification.payload)
                elif notification.payload == token:
                    asked = False
                    self._proved()
            silent = time.monotonic() - heard
            if asked and silent >= self._answer_seconds:
                raise TimeoutError
            if not asked and silent >= self._probe_seconds:
                token, asked, heard = await self._ask(connection), True, time.monotonic()

    async def _ask(self, connection: session.Connection) -> str:
        token = secrets.token_hex(8)
        async with session.breaking_off(connection, self._answer_seconds):
            await session.notify(connection, _PROOF, token)
        return token

    def _proved(self) -> None:
        if not self.ready:
            self.reason = None
            self._ready.set()
            log.info("listener.ready", channels=self._channels)
            self._on_connect()
