"""Calls: how a statement is run, and what it answers."""

from typing import Any, LiteralString, TypeVar

from psycopg import AsyncConnection
from psycopg.rows import AsyncRowFactory, scalar_row

from pgplane.errors import ledger_errors

Connection = AsyncConnection[Any]
Arguments = tuple[object, ...]
T = TypeVar("T")


async def rows(
    connection: Connection, row: AsyncRowFactory[T], query: LiteralString, arguments: Arguments
) -> list[T]:
    with ledger_errors():
        async with connection.cursor(row_factory=row, binary=True) as cursor:
            await cursor.execute(query, arguments)
            return await cursor.fetchall()


async def value(connection: Connection, query: LiteralString, arguments: Arguments) -> Any:
    found: list[Any] = await rows(connection, scalar_row, query, arguments)
    return found[0]
