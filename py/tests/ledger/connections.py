"""Many connections to one database, for tests in which nobody takes turns."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import psycopg

Connection = psycopg.AsyncConnection[tuple[Any, ...]]


@asynccontextmanager
async def connections(url: str, count: int) -> AsyncIterator[list[Connection]]:
    """Autocommit connections to one database, all closed at the end."""
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(
                await psycopg.AsyncConnection.connect(url, autocommit=True)
            )
            for _ in range(count)
        ]
