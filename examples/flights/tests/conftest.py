"""Fixtures: one server with the client database loaded, and connections as its reader has them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import pytest_asyncio
from pgplane.session import connect, reading
from psycopg import AsyncConnection
from tests.postgres import Server

from flights.database import loader
from flights.database.loader import ClientDatabase


def silent(_of: str, _part: float) -> None:
    """No progress to show."""


@pytest.fixture(scope="session")
def client_server() -> Iterator[Server]:
    """The client's server; the queue lives elsewhere."""
    with Server() as running:
        yield running


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def flights_db(client_server: Server) -> ClientDatabase:
    """The loaded client database."""
    return await loader.ensure(
        client_server.database_url("postgres"), password="it's / @ secret", report=silent
    )


@pytest.fixture
async def client(flights_db: ClientDatabase) -> AsyncIterator[AsyncConnection[Any]]:
    """What a handler is given: a read-only transaction of the reader."""
    async with (
        await connect(flights_db.reader_url, application_name="test") as connection,
        reading(connection, 30) as transaction,
    ):
        yield transaction
