"""The client database: read-only connections to it, and what a query answers there."""

import select
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from psycopg import (
    AsyncConnection,
    AsyncCursor,
    AsyncRawCursor,
    AsyncServerCursor,
    IsolationLevel,
)
from psycopg.pq import PipelineStatus
from psycopg.rows import tuple_row
from psycopg_pool import AsyncConnectionPool

from pgplane.session import Connection, RawJson, options, register_raw_json

CHECKOUT_SECONDS = 5.0


def pool(url: str, *, size: int) -> AsyncConnectionPool[Connection]:
    """A closed pool for `reading` the client database; what the server closed is not lent.

    Handlers of several clients use a connection one after another: whatever one leaves behind is
    undone before the next.
    """

    async def configure(connection: Connection) -> None:
        register_raw_json(connection)
        await _set_reading(connection)

    async def reset(connection: Connection) -> None:
        if connection.pgconn.pipeline_status != PipelineStatus.OFF:
            await connection.close()
        if connection.closed:  # the pool replaces it
            return
        await _set_reading(connection)
        await connection.execute("discard all")

    return AsyncConnectionPool(
        url,
        kwargs=options("pgplane worker client"),
        connection_class=AsyncConnection[Any],
        configure=configure,
        reset=reset,
        check=_check_if_told,
        min_size=1,
        max_size=size,
        timeout=CHECKOUT_SECONDS,
        open=False,
    )


async def _set_reading(connection: Connection) -> None:
    connection.row_factory = tuple_row
    connection.cursor_factory = AsyncCursor
    connection.server_cursor_factory = AsyncServerCursor
    connection.prepare_threshold = None
    await connection.set_autocommit(True)
    await connection.set_isolation_level(IsolationLevel.REPEATABLE_READ)
    await connection.set_read_only(True)


async def _check_if_told(connection: Connection) -> None:
    """Ask the server only if it sent something while idle: a goodbye, mostly. Else it is free."""
    line = select.poll()
    line.register(connection.fileno(), select.POLLIN)
    if line.poll(0):
        await AsyncConnectionPool.check_connection(connection)


@asynccontextmanager
async def reading(connection: Connection, seconds: float) -> AsyncIterator[Connection]:
    """One read-only transaction, one snapshot, each statement within `seconds`.

    The connection is one of `pool`'s.
    """
    async with connection.transaction():
        await connection.execute(
            "select pg_catalog.set_config('statement_timeout', %s, true)",
            [str(max(1, round(seconds * 1000)))],
        )
        yield connection


async def rows_as_json(connection: Connection, query: str, values: Sequence[object]) -> RawJson:
    """`{"rows": [{column: value, …}, …]}`, in the query's order, as PostgreSQL itself prints it.

    `query` is one SELECT with `$1 … $n`; the connection must load raw JSON, as `pool`'s do.
    """
    text = f"""
        select pg_catalog.json_build_object(
            'rows', coalesce(pg_catalog.json_agg(answer), '[]'::pg_catalog.json))
          from (
            {query}
          ) as answer"""
    async with AsyncRawCursor(connection) as cursor:
        await cursor.execute(text.encode(), values)
        answer: list[tuple[RawJson]] = await cursor.fetchall()
    return answer[0][0]


async def write_csv(
    connection: Connection,
    query: str,
    values: Sequence[object] | Mapping[str, object] | None,
    write: Callable[[bytes], Awaitable[None]],
) -> None:
    """Write the rows of one SELECT as CSV (UTF-8, a header line), row by row as they come.

    `values` for its `%s` or `%(name)s` become literals here, as COPY takes none.
    """
    statement = f"copy (\n{query}\n) to stdout (format csv, header, encoding 'utf8')".encode()
    async with AsyncCursor(connection) as cursor, cursor.copy(statement, values) as copy:
        async for data in copy:
            await write(bytes(data))
