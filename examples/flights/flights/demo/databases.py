"""The queue database: made, migrated, with a login for each process."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass

import psycopg
from pgplane.schema import migrations
from psycopg import AsyncConnection, sql
from psycopg.conninfo import conninfo_to_dict

from flights.database.dsn import url
from flights.demo.trouble import DemoError

QUEUE_DATABASE = "pgplane"
QUEUE = "surface-flights"
LOGINS = {
    "flights_edge": ("plane_producer", "plane_reader"),
    "flights_worker": ("plane_worker",),
}


@dataclass(frozen=True)
class QueueLogins:
    """Connection strings of the queue database.

    Attributes:
        admin: whoever made it.
        edge: may submit requests and read what one scope may see.
        worker: may claim and settle.
    """

    admin: str
    edge: str
    worker: str


async def create_queue_database(admin_url: str) -> bool:
    """Make the database that the URL names, where it is missing; whether it was.

    Raises DemoError where the server cannot be reached or refuses.
    """
    name = conninfo_to_dict(admin_url).get("dbname")
    if not name:
        raise DemoError("PLANE_QUEUE_URL names no database: add its name, as in …:5432/pgplane")
    try:
        async with await AsyncConnection.connect(
            url(admin_url, dbname="postgres"), autocommit=True, connect_timeout=10
        ) as admin:
            known = await admin.execute("select from pg_database where datname = %s", [name])
            if known.rowcount:
                return False
            await admin.execute(
                sql.SQL("create database {} encoding 'UTF8' template template0").format(
                    sql.Identifier(str(name))
                )
            )
            return True
    except psycopg.Error as error:
        raise DemoError(
            f"the queue database {name} cannot be reached or made: {first_line(error)}"
        ) from error


async def migrate(admin_url: str) -> str:
    """Bootstrap where that was never done, and migrate; what was done. Raises DemoError."""
    async with await AsyncConnection.connect(admin_url, autocommit=True) as admin:
        cursor = await admin.execute("select to_regnamespace('plane') is null")
        new = await cursor.fetchone() == (True,)
    try:
        if new:
            migrations.bootstrap(admin_url)
        change = migrations.migrate(admin_url)
    except (migrations.MigrationError, psycopg.Error) as error:
        raise DemoError(
            f"the queue database cannot be migrated: {error}\n"
            "If nothing in it is worth keeping, begin anew: drop the database, "
            "or the demo's own server as a whole (rm -rf .demo)"
        ) from error
    return f"{len(change.applied)} applied" if change.applied else "nothing new"


async def open_queue(admin_url: str) -> QueueLogins:
    """Create the queue, and the login roles with new passwords, on a migrated database."""
    async with await AsyncConnection.connect(admin_url, autocommit=True) as admin:
        await admin.execute("select plane.create_queue(p_queue => %s)", [QUEUE])
        urls = {login: await _login(admin, admin_url, login) for login in LOGINS}
    return QueueLogins(admin_url, urls["flights_edge"], urls["flights_worker"])


async def clock_skew(queue_url: str) -> float:
    """The server's clock minus this machine's, in seconds; the quickest of some readings counts."""
    readings = []
    async with await AsyncConnection.connect(queue_url, autocommit=True) as connection:
        for _ in range(10):
            before = time.time()
            cursor = await connection.execute(
                "select extract(epoch from clock_timestamp())::float8"
            )
            row = await cursor.fetchone()
            after = time.time()
            assert row is not None
            readings.append((after - before, row[0] - (before + after) / 2))
    took, skew = min(readings)
    return float(skew) if abs(skew) > took else 0.0


def first_line(error: BaseException) -> str:
    """The first line of an error's text."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


async def _login(admin: AsyncConnection, admin_url: str, login: str) -> str:
    password = secrets.token_urlsafe(24)
    known = await admin.execute("select from pg_roles where rolname = %s", [login])
    statement = (
        "alter role {} login password {}" if known.rowcount else "create role {} login password {}"
    )
    await admin.execute(sql.SQL(statement).format(sql.Identifier(login), sql.Literal(password)))
    await admin.execute(
        sql.SQL("grant {} to {}").format(
            sql.SQL(", ").join(map(sql.Identifier, LOGINS[login])), sql.Identifier(login)
        )
    )
    return url(admin_url, user=login, password=password)
