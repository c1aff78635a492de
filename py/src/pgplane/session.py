"""Sessions: how this program connects, and how it listens.

JSON columns arrive as `RawJson`, the text itself: it is neither parsed nor printed again, so that
64-bit integers and decimals keep every digit. Nothing is prepared on the server, and nothing is
SET for a whole session, so that a transaction-mode pooler may stand in between. So what a role or
a database sets by default counts, and the ledger's answers are fetched in binary, in which times
have no DateStyle and intervals no IntervalStyle.
"""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import psycopg
from psycopg import AsyncConnection, sql
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.pq import Format
from psycopg_pool import AsyncConnectionPool

Connection = AsyncConnection[Any]

CONNECT_SECONDS = 5


def options(application_name: str) -> dict[str, Any]:
    """What every connection of this program is opened with."""
    return {
        "autocommit": True,
        "prepare_threshold": None,
        "application_name": application_name,
        "connect_timeout": CONNECT_SECONDS,
        "keepalives": 1,
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": 15_000,
    }


class RawJson(bytes):
    """JSON text as PostgreSQL printed it (UTF-8)."""


class _RawJsonLoader(Loader):
    def load(self, data: Buffer) -> RawJson:
        return RawJson(data)


class _RawJsonBinaryLoader(_RawJsonLoader):
    format = Format.BINARY


class _RawJsonbBinaryLoader(Loader):
    format = Format.BINARY

    def load(self, data: Buffer) -> RawJson:
        return RawJson(memoryview(data)[1:])  # behind a version, which is 1


def register_raw_json(connection: Connection) -> None:
    """Load JSON columns as `RawJson` from now on."""
    connection.adapters.register_loader("json", _RawJsonLoader)
    connection.adapters.register_loader("jsonb", _RawJsonLoader)
    connection.adapters.register_loader("json", _RawJsonBinaryLoader)
    connection.adapters.register_loader("jsonb", _RawJsonbBinaryLoader)


async def connect(url: str, *, application_name: str) -> Connection:
    """One autocommit connection, with TCP keepalives and raw JSON. Raises psycopg's errors."""
    connection: Connection = await AsyncConnection.connect(url, **options(application_name))
    register_raw_json(connection)
    return connection


def pool(
    url: str, *, application_name: str, min_size: int = 1, max_size: int = 4, timeout: float = 5.0
) -> AsyncConnectionPool[Connection]:
    """A closed pool of connections as `connect` makes them: `await pool.open()`, `close()`.

    `timeout`: seconds a checkout may wait. A connection is tested at checkout only when it was
    found broken in use, so a checkout costs no round trip.
    """

    async def configure(connection: Connection) -> None:
        register_raw_json(connection)

    return AsyncConnectionPool(
        url,
        kwargs=options(application_name),
        connection_class=AsyncConnection[Any],
        configure=configure,
        min_size=min_size,
        max_size=max_size,
        timeout=timeout,
        # The pool's own pauses between attempts double; giving up early lets the next checkout try.
        reconnect_timeout=CONNECT_SECONDS,
        open=False,
    )


async def listen(connection: Connection, channels: Sequence[str]) -> None:
    """LISTEN on each channel."""
    for channel in channels:
        await connection.execute(sql.SQL("listen {}").format(sql.Identifier(channel)))


async def notify(connection: Connection, channel: str, payload: str) -> None:
    """Send one notification."""
    await connection.execute("select pg_catalog.pg_notify(%s, %s)", [channel, payload])


@asynccontextmanager
async def breaking_off(connection: Connection, seconds: float) -> AsyncIterator[None]:
    """Shut the socket if the block takes longer; raises TimeoutError then.

    A peer that has vanished would not answer a cancel request either.
    """
    broken = False

    def shut() -> None:
        nonlocal broken
        broken = True
        with socket.socket(fileno=os.dup(connection.fileno())) as line:
            line.shutdown(socket.SHUT_RDWR)

    timer = asyncio.get_running_loop().call_later(seconds, shut)
    try:
        yield
    except psycopg.OperationalError:
        if broken:
            raise TimeoutError from None
        raise
    finally:
        timer.cancel()
