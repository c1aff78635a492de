"""How a handler asks the client database: a query with named parameters, an answer of rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, LiteralString

from psycopg import AsyncConnection
from psycopg.rows import dict_row

Row = dict[str, Any]


async def fetch(
    client: AsyncConnection[Any], query: LiteralString, values: Mapping[str, object]
) -> list[Row]:
    """All rows of a query, each a dict of column name to value."""
    async with client.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(query, values)
        return await cursor.fetchall()
