"""Fixtures: one server a test run, one freshly migrated database a test.

`queue_db` is the superuser's connection string; `as_producer`, `as_worker`, … are those of login
roles that have been granted one group role each, `as_edge` of one with producer and reader.
"""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any

import click
import httpx2
import psycopg
import pytest
from psycopg import sql

from pgplane.edge.edge import Edge
from pgplane.schema import migrations
from pgplane.settings import Settings

from .support.edges import Plane, in_process
from .support.issuer import Issuer
from .support.oracle import broken
from .support.postgres import SUPERUSER, Server, for_role, install_plane
from .support.sessions import Session, Stage, staged

LOGINS = {
    "test_producer": ["plane_producer"],
    "test_worker": ["plane_worker"],
    "test_reader": ["plane_reader"],
    "test_relay": ["plane_relay"],
    "test_admin": ["plane_admin"],
    "test_edge": ["plane_producer", "plane_reader"],
    "test_everyone": ["plane_producer", "plane_worker", "plane_reader", "plane_admin"],
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
    """A queue database of this test's own, as the superuser, whose ledger the test leaves whole."""
    with _database(server, "queue", template=template) as url:
        yield url
        with psycopg.connect(url, autocommit=True) as connection:
            assert broken(connection) == []


@pytest.fixture
def bare_db(server: Server) -> Iterator[str]:
    """A database that has been bootstrapped and not migrated, as the superuser."""
    with _database(server, "bare") as url:
        migrations.bootstrap(url)
        yield url


def _login(name: str) -> Any:
    """A fixture: the queue database as that login."""

    @pytest.fixture(name=f"as_{name}")
    def as_login(queue_db: str) -> str:
        return for_role(queue_db, f"test_{name}")

    return as_login


as_producer = _login("producer")
as_worker = _login("worker")
as_reader = _login("reader")
as_relay = _login("relay")
as_admin = _login("admin")
as_edge = _login("edge")
as_everyone = _login("everyone")
as_stranger = _login("stranger")


@pytest.fixture
def tell(capsys: pytest.CaptureFixture[str]) -> Callable[[str], None]:
    """Says something to whoever runs the tests, whatever comes of them."""

    def said(what: str) -> None:
        with capsys.disabled():
            click.echo(f"\n{what}")

    return said


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
    with _database(server, "client", owner="client_owner") as url:
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


@pytest.fixture(scope="session")
def issuer() -> Issuer:
    """Who signs the tokens of this test run."""
    return Issuer()


@pytest.fixture
def plane(queue_db: str) -> Iterator[Plane]:
    """The queue database with the surface `flights`, and a worker that does what it is told."""
    opened = Plane(queue_db)
    opened.surface()
    yield opened
    opened.close()


@pytest.fixture
def settings(issuer: Issuer, as_edge: str) -> Settings:
    """An edge's settings."""
    return issuer.settings(queue_url=as_edge)


@pytest.fixture
async def edge(plane: Plane, settings: Settings) -> AsyncIterator[tuple[httpx2.AsyncClient, Edge]]:
    """An edge in this process, and a client that calls it directly: everything but streaming."""
    async with in_process(settings) as opened:
        yield opened


@pytest.fixture
def client(edge: tuple[httpx2.AsyncClient, Edge]) -> httpx2.AsyncClient:
    """The client of that edge."""
    return edge[0]


@contextmanager
def _database(
    server: Server, kind: str, template: str = "template1", owner: str = SUPERUSER
) -> Iterator[str]:
    """A new database's URL, as the superuser; it is dropped in the end."""
    name = f"{kind}_{next(_numbers)}"
    with _as_superuser(server) as connection:
        copying = " strategy file_copy" if connection.info.server_version >= 150000 else ""
        connection.execute(
            sql.SQL("create database {} template {} owner {}" + copying).format(
                *map(sql.Identifier, (name, template, owner))
            )
        )
        yield server.database_url(name)
        connection.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))


def _as_superuser(server: Server) -> psycopg.Connection:
    return psycopg.connect(server.database_url("postgres"), autocommit=True)
