"""Fixtures: one server with the client database loaded, and connections as its reader has them."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from pgplane.client_database import reading
from pgplane.session import connect
from psycopg import AsyncConnection

from flights.database import loader
from flights.database.loader import ClientDatabase
from flights.demo import cluster

READER_PASSWORD = "it's / @ secret"


def unsaid(_text: str) -> None:
    """Nobody listens."""


def silent(_of: str, _part: float) -> None:
    """No progress to show."""


@contextmanager
def entered_by_all() -> Iterator[Path]:
    """A folder for a while, which the server's account can enter too."""
    with tempfile.TemporaryDirectory(prefix="flights-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder of this test's own, which the server's account can enter too."""
    with entered_by_all() as folder:
        yield folder


@pytest.fixture(scope="session")
def client_admin() -> Iterator[str]:
    """The administrator of the client's server, which the demo's own code starts and stops."""
    with entered_by_all() as folder:
        server = cluster.prepared(folder, say=unsaid)
        try:
            yield server.start(None, unsaid)
        finally:
            server.stop()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def flights_db(client_admin: str) -> ClientDatabase:
    """The loaded client database."""
    return await loader.ensure(client_admin, password=READER_PASSWORD, report=silent)


@pytest.fixture
async def client(flights_db: ClientDatabase) -> AsyncIterator[AsyncConnection[Any]]:
    """What a handler is given: a read-only transaction of the reader."""
    async with (
        await connect(flights_db.reader_url, application_name="test") as connection,
        reading(connection, 30) as transaction,
    ):
        yield transaction
