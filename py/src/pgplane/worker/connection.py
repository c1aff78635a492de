"""A warm connection to the queue database, opened again whenever it broke."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Concatenate, ParamSpec, TypeVar

import psycopg

from pgplane import session
from pgplane.errors import Unavailable, ledger_errors

A = ParamSpec("A")
R = TypeVar("R")


class WarmConnection:
    """Runs ledger calls one after another, each within `seconds`."""

    def __init__(self, url: str, *, application_name: str, seconds: float = 10.0) -> None:
        self._url = url
        self._application_name = application_name
        self._seconds = seconds
        self._lock = asyncio.Lock()
        self._closed = False
        self._connection: session.Connection | None = None

    async def call(
        self,
        function: Callable[Concatenate[session.Connection, A], Awaitable[R]],
        *args: A.args,
        **kwargs: A.kwargs,
    ) -> R:
        """`function(connection, …)`. Raises LedgerError; after Unavailable, the next call connects
        anew, and whether this one was carried out is unknown."""
        async with self._lock:
            if self._closed:
                raise Unavailable("the connection is closed")
            try:
                async with asyncio.timeout(self._seconds):
                    return await function(await self._open(), *args, **kwargs)
            except TimeoutError:
                await self._drop()
                raise Unavailable(f"no answer within {self._seconds:g} s") from None
            except Unavailable:
                await self._drop()
                raise

    async def close(self) -> None:
        """Close the connection, once the call in progress is through; those behind it fail."""
        self._closed = True
        async with self._lock:
            await self._drop()

    async def _open(self) -> session.Connection:
        if self._connection is None or self._connection.closed:
            with ledger_errors():
                self._connection = await session.connect(
                    self._url, application_name=self._application_name
                )
        return self._connection

    async def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(psycopg.Error):
                await connection.close()
