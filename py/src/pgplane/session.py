"""Sessions: how this program connects, and the little SQL that is not a call of the ledger.

JSON columns arrive as `RawJson`, the text itself: it is neither parsed nor printed again, so that
64-bit integers and decimals keep every digit. Nothing is prepared on the server, and nothing is
SET for a whole session, so that a transaction-mode pooler may stand in between.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from psycopg import AsyncConnection, IsolationLevel, sql
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg_pool import AsyncConnectionPool

Connection = AsyncConnection[Any]

CONNECT_SECONDS = 5
_KEEPALIVES: dict[str, Any] = {
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


def _register_raw_json(connection: Connection) -> None:
    connection.adapters.register_loader("json", _RawJsonLoader)
    connection.adapters.register_loader("jsonb", _RawJsonLoader)


async def connect(url: str, *, application_name: str) -> Connection:
    """One autocommit connection, with TCP keepalives and raw JSON. Raises psycopg's errors."""
    connection: Connection = await AsyncConnection.connect(
        url,
        autocommit=True,
        prepare_threshold=None,
        **_KEEPALIVES,
        application_name=application_name,
    )
    _register_raw_json(connection)
    return connection


def pool(
    url: str, *, application_name: str, min_size: int = 1, max_size: int = 4, timeout: float = 5.0
) -> AsyncConnectionPool[Connection]:
    """A closed pool of connections as `connect` makes them: `await pool.open()`, `close()`.

    `timeout`: seconds a checkout may wait. A connection is tested at checkout only when it was
    found broken in use, so a checkout costs no round trip.
    """

    async def configure(connection: Connection) -> None:
        _register_raw_json(connection)

    return AsyncConnectionPool(
        url,
        kwargs={
            "autocommit": True,
            "prepare_threshold": None,
            **_KEEPALIVES,
            "application_name": application_name,
        },
        connection_class=AsyncConnection[Any],
        configure=configure,
        min_size=min_size,
        max_size=max_size,
        timeout=timeout,
        open=False,
    )


async def listen(connection: Connection, channels: Sequence[str]) -> None:
    """LISTEN on each channel."""
    for channel in channels:
        await connection.execute(sql.SQL("listen {}").format(sql.Identifier(channel)))


async def notify(connection: Connection, channel: str, payload: str) -> None:
    """Send one notification."""
    await connection.execute("select pg_catalog.pg_notify(%s, %s)", [channel, payload])


async def limit_waits(connection: Connection, *, lock: float, statement: float) -> None:
    """Bound, in this transaction alone, what a statement may wait for a lock and take (seconds)."""
    await connection.execute(
        "select pg_catalog.set_config('lock_timeout', %s, true),"
        " pg_catalog.set_config('statement_timeout', %s, true)",
        [str(round(lock * 1000)), str(round(statement * 1000))],
    )


@asynccontextmanager
async def reading(connection: Connection, seconds: float) -> AsyncIterator[Connection]:
    """One read-only transaction, one snapshot, each statement within `seconds`."""
    await connection.set_isolation_level(IsolationLevel.REPEATABLE_READ)
    await connection.set_read_only(True)
    async with connection.transaction():
        await connection.execute(
            "select pg_catalog.set_config('statement_timeout', %s, true)",
            [str(max(1, round(seconds * 1000)))],
        )
        yield connection


class Writable(NamedTuple):
    """Something that a credential may change: what it is, and the statement that ends it."""

    thing: str
    revoke: str
