"""Fixtures: one server a test run, one freshly migrated database a test.

`queue_db` is the superuser's connection string; `as_producer`, `as_worker`, … are those of login
roles that have been granted one group role each, `as_edge` of one with producer and reader.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import psycopg
import pytest
from psycopg import sql

from pgplane.schema import migrations

from .postgres import Server, for_role, install_plane
from .sessions import Session, Stage, staged

LOGINS = {
    "test_producer": ["plane_producer"],
    "test_worker": ["plane_worker"],
    "test_reader": ["plane_reader"],
    "test_relay": ["plane_relay"],
    "test_admin": ["plane_admin"],
    "test_edge": ["plane_producer", "plane_reader"],
    "test_stranger": [],
}

_numbers = count(1)


@dataclass(frozen=True)
class ClientDatabase:
    """Connection strings of one client database: who owns it, who reads it, who also writes it."""

    owner: str
    reader: str
    writer: str


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """The server of this test run."""
    with Server() as running:
        yield running


@pytest.fixture(scope="session")
def template(server: Server) -> str:
    """The name of the migrated database that every test's database is a copy of."""
    name = "plane_template"
    with _as_superuser(server) as connection:
        connection.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
        install_plane(server.database_url(name))
        for login, groups in LOGINS.items():
            connection.execute(sql.SQL("create role {} login").format(sql.Identifier(login)))
            for group in groups:
                connection.execute(
                    sql.SQL("grant {} to {}").format(sql.Identifier(group), sql.Identifier(login))
                )
    return name


@pytest.fixture
def queue_db(server: Server, template: str) -> Iterator[str]:
    """A queue database of this test's own, as the superuser."""
    name = f"queue_{next(_numbers)}"
    with _as_superuser(server) as connection:
        copying = " strategy file_copy" if connection.info.server_version >= 150000 else ""
        connection.execute(
            sql.SQL("create database {} template {}" + copying).format(
                sql.Identifier(name), sql.Identifier(template)
            )
        )
        yield server.database_url(name)
        _drop(connection, name)


@pytest.fixture
def bare_db(server: Server) -> Iterator[str]:
    """A database that has been bootstrapped and not migrated, as the superuser."""
    name = f"bare_{next(_numbers)}"
    with _as_superuser(server) as connection:
        connection.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
        url = server.database_url(name)
        migrations.bootstrap(url)
        yield url
        _drop(connection, name)


@pytest.fixture
def as_producer(queue_db: str) -> str:
    """The queue database as a login with plane_producer."""
    return for_role(queue_db, "test_producer")


@pytest.fixture
def as_worker(queue_db: str) -> str:
    """The queue database as a login with plane_worker."""
    return for_role(queue_db, "test_worker")


@pytest.fixture
def as_reader(queue_db: str) -> str:
    """The queue database as a login with plane_reader."""
    return for_role(queue_db, "test_reader")


@pytest.fixture
def as_relay(queue_db: str) -> str:
    """The queue database as a login with plane_relay."""
    return for_role(queue_db, "test_relay")


@pytest.fixture
def as_admin(queue_db: str) -> str:
    """The queue database as a login with plane_admin."""
    return for_role(queue_db, "test_admin")


@pytest.fixture
def as_edge(queue_db: str) -> str:
    """The queue database as a login with plane_producer and plane_reader, as an edge has it."""
    return for_role(queue_db, "test_edge")


@pytest.fixture
def as_stranger(queue_db: str) -> str:
    """The queue database as a login that was granted nothing."""
    return for_role(queue_db, "test_stranger")


@pytest.fixture
def stage(queue_db: str) -> Iterator[Stage]:
    """Sessions on this test's queue database, closed when the test ends."""
    with staged(queue_db) as opened:
        yield opened


@pytest.fixture
def workers(stage: Stage, as_worker: str) -> list[Session]:
    """Two sessions of a worker."""
    return stage.enter(as_worker, as_worker)


@pytest.fixture
def producers(stage: Stage, as_producer: str) -> list[Session]:
    """Two sessions of a producer."""
    return stage.enter(as_producer, as_producer)


@pytest.fixture(scope="session")
def client_logins(server: Server) -> None:
    """The logins of a client's database: they know nothing of the queue database."""
    with _as_superuser(server) as connection:
        for login in ("client_owner", "client_reader", "client_writer"):
            connection.execute(sql.SQL("create role {} login").format(sql.Identifier(login)))


@pytest.fixture
def client_db(server: Server, client_logins: None) -> Iterator[ClientDatabase]:
    """An empty database owned by someone else; what its owner creates, the reader may read."""
    name = f"client_{next(_numbers)}"
    with _as_superuser(server) as connection:
        connection.execute(
            sql.SQL("create database {} owner client_owner").format(sql.Identifier(name))
        )
        url = server.database_url(name)
        with psycopg.connect(url, autocommit=True) as inside:
            inside.execute("alter schema public owner to client_owner")
            inside.execute("revoke create on schema public from public")
            for login, rights in (
                ("client_reader", "select"),
                ("client_writer", "select, insert, update, delete"),
            ):
                inside.execute(
                    "alter default privileges for role client_owner in schema public "
                    f"grant {rights} on tables to {login}"
                )
        yield ClientDatabase(
            owner=for_role(url, "client_owner"),
            reader=for_role(url, "client_reader"),
            writer=for_role(url, "client_writer"),
        )
        _drop(connection, name)


def _as_superuser(server: Server) -> psycopg.Connection:
    return psycopg.connect(server.database_url("postgres"), autocommit=True)


def _drop(connection: psycopg.Connection, name: str) -> None:
    connection.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))
