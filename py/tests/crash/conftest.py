"""A server of a test's own, which may fall over."""

from collections.abc import Iterator

import psycopg
import pytest

from ..support.postgres import Server, for_role, install_plane


@pytest.fixture
def own_server() -> Iterator[Server]:
    """A server that keeps what it has acknowledged."""
    with Server(synchronous_commit="on", full_page_writes="on", fsync="on") as server:
        yield server


@pytest.fixture
def own_db(own_server: Server) -> str:
    """A migrated database of it, as the superuser."""
    with psycopg.connect(own_server.database_url("postgres"), autocommit=True) as connection:
        connection.execute("create database plane")
    url = own_server.database_url("plane")
    install_plane(url)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("create role client login")
        connection.execute(
            "grant plane_producer, plane_worker, plane_reader, plane_admin to client"
        )
    return url


@pytest.fixture
def as_client(own_db: str) -> str:
    """That database as a login that may call every function."""
    return for_role(own_db, "client")
