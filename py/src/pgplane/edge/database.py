"""The edge's way to the queue database: a small pool, bounded waits, one retry."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Concatenate, ParamSpec, TypeVar

from pgplane import session
from pgplane.errors import Busy, Unavailable, ledger_errors
from pgplane.session import Connection

P = ParamSpec("P")
T = TypeVar("T")

CHECKOUT_SECONDS = 2.0
CALL_SECONDS = 5.0


class QueueDatabase:
    """Runs calls of the ledger on pooled connections.

    Nothing waits for long: a checkout has two seconds, a call five (then the server is told to
    cancel it), and the functions wait half a second for a lock, so that a few callers who wait for
    one open transaction do not hold every connection. A connection that turns out to be broken,
    as all are after a server restart, costs the caller nothing: the call runs once more on another
    one. That is safe for every call the edge makes, a submitted request included: its repetition
    joins the first.
    """

    def __init__(self, url: str | None, size: int) -> None:
        self._pool = (
            session.pool(
                url,
                application_name="pgplane edge",
                min_size=1,
                max_size=size,
                timeout=CHECKOUT_SECONDS,
            )
            if url
            else None
        )

    @property
    def configured(self) -> bool:
        """Whether there is a queue database at all."""
        return self._pool is not None

    async def open(self) -> None:
        """Begin to connect; returns at once, also when the server is down."""
        if self._pool is not None:
            await self._pool.open(wait=False)

    async def close(self) -> None:
        """Close every connection."""
        if self._pool is not None:
            await self._pool.close()

    async def call(
        self,
        function: Callable[Concatenate[Connection, P], Awaitable[T]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """`function(connection, *args, **kwargs)`; raises the ledger's errors.

        Unavailable: no database is configured, or none answers. Busy: the call took too long.
        """
        if self._pool is None:
            raise Unavailable("no queue database is configured: set PLANE_QUEUE_URL")
        for last in (False, True):
            with ledger_errors():
                async with self._pool.connection() as connection:
                    try:
                        async with asyncio.timeout(CALL_SECONDS):
                            return await function(connection, *args, **kwargs)
                    except TimeoutError:
                        raise Busy("the queue database takes too long") from None
                    except Unavailable:
                        if last or not connection.closed:
                            raise
            await self._pool.check()
        raise AssertionError("unreachable")
