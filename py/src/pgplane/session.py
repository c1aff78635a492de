"""Sessions: how this program connects, and the little SQL that is not a call of the ledger.

JSON columns arrive as `RawJson`, the text itself: it is neither parsed nor printed again, so that
64-bit integers and decimals keep every digit. Nothing is prepared on the server, and nothing is
SET for a whole session, so that a transaction-mode pooler may stand in between.
"""

import asyncio
import os
import select
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import psycopg
from psycopg import (
    AsyncConnection,
    AsyncCursor,
    AsyncRawCursor,
    AsyncServerCursor,
    IsolationLevel,
    sql,
)
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.pq import PipelineStatus
from psycopg.rows import args_row, tuple_row
from psycopg_pool import AsyncConnectionPool

Connection = AsyncConnection[Any]

CONNECT_SECONDS = 5
CHECKOUT_SECONDS = 5.0


def _options(application_name: str) -> dict[str, Any]:
    return {
        "autocommit": True,
        "prepare_threshold": None,
        "application_name": application_name,
        "connect_timeout": CONNECT_SECONDS,
        "keepalives": 1,
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": 15_000,
    }


class RawJson(bytes):
    """JSON text as PostgreSQL printed it (UTF-8)."""


class _RawJsonLoader(Loader):
    def load(self, data: Buffer) -> RawJson:
        return RawJson(data)


def _register_raw_json(connection: Connection) -> None:
    connection.adapters.register_loader("json", _RawJsonLoader)
    connection.adapters.register_loader("jsonb", _RawJsonLoader)


async def connect(url: str, *, application_name: str) -> Connection:
    """One autocommit connection, with TCP keepalives and raw JSON. Raises psycopg's errors."""
    connection: Connection = await AsyncConnection.connect(url, **_options(application_name))
    _register_raw_json(connection)
    return connection


def pool(
    url: str, *, application_name: str, min_size: int = 1, max_size: int = 4, timeout: float = 5.0
) -> AsyncConnectionPool[Connection]:
    """A closed pool of connections as `connect` makes them: `await pool.open()`, `close()`.

    `timeout`: seconds a checkout may wait. A connection is tested at checkout only when it was
    found broken in use, so a checkout costs no round trip.
    """

    async def configure(connection: Connection) -> None:
        _register_raw_json(connection)

    return AsyncConnectionPool(
        url,
        kwargs=_options(application_name),
        connection_class=AsyncConnection[Any],
        configure=configure,
        min_size=min_size,
        max_size=max_size,
        timeout=timeout,
        # The pool's own pauses between attempts double; giving up early lets the next checkout try.
        reconnect_timeout=CONNECT_SECONDS,
        open=False,
    )


async def listen(connection: Connection, channels: Sequence[str]) -> None:
    """LISTEN on each channel."""
    for channel in channels:
        await connection.execute(sql.SQL("listen {}").format(sql.Identifier(channel)))


async def notify(connection: Connection, channel: str, payload: str) -> None:
    """Send one notification."""
    await connection.execute("select pg_catalog.pg_notify(%s, %s)", [channel, payload])


@asynccontextmanager
async def breaking_off(connection: Connection, seconds: float) -> AsyncIterator[None]:
    """Shut the socket if the block takes longer; raises TimeoutError then.

    A peer that has vanished would not answer a cancel request either.
    """
    broken = False

    def shut() -> None:
        nonlocal broken
        broken = True
        with socket.socket(fileno=os.dup(connection.fileno())) as line:
            line.shutdown(socket.SHUT_RDWR)

    timer = asyncio.get_running_loop().call_later(seconds, shut)
    try:
        yield
    except psycopg.OperationalError:
        if broken:
            raise TimeoutError from None
        raise
    finally:
        timer.cancel()


def client_pool(url: str, *, size: int) -> AsyncConnectionPool[Connection]:
    """A closed pool for `reading` the client database; what the server closed is not lent.

    Handlers of several clients use a connection one after another: whatever one leaves behind is
    undone before the next.
    """

    async def configure(connection: Connection) -> None:
        _register_raw_json(connection)
        await _set_reading(connection)

    async def reset(connection: Connection) -> None:
        if connection.pgconn.pipeline_status != PipelineStatus.OFF:
            await connection.close()
        if connection.closed:  # the pool replaces it
            return
        await _set_reading(connection)
        await connection.execute("discard all")

    return AsyncConnectionPool(
        url,
        kwargs=_options("pgplane worker client"),
        connection_class=AsyncConnection[Any],
        configure=configure,
        reset=reset,
        check=_check_if_told,
        min_size=1,
        max_size=size,
        timeout=CHECKOUT_SECONDS,
        open=False,
    )


async def _set_reading(connection: Connection) -> None:
    connection.row_factory = tuple_row
    connection.cursor_factory = AsyncCursor
    connection.server_cursor_factory = AsyncServerCursor
    connection.prepare_threshold = None
    await connection.set_autocommit(True)
    await connection.set_isolation_level(IsolationLevel.REPEATABLE_READ)
    await connection.set_read_only(True)


async def _check_if_told(connection: Connection) -> None:
    """Ask the server only if it sent something while idle: a goodbye, mostly. Else it is free."""
    line = select.poll()
    line.register(connection.fileno(), select.POLLIN)
    if line.poll(0):
        await AsyncConnectionPool.check_connection(connection)


@asynccontextmanager
async def reading(connection: Connection, seconds: float) -> AsyncIterator[Connection]:
    """One read-only transaction, one snapshot, each statement within `seconds`.

    The connection is one of `client_pool`'s.
    """
    async with connection.transaction():
        await connection.execute(
            "select pg_catalog.set_config('statement_timeout', %s, true)",
            [str(max(1, round(seconds * 1000)))],
        )
        yield connection


async def rows(connection: Connection, query: str, values: Sequence[object]) -> RawJson:
    """`{"rows": [{column: value, …}, …]}`, in the query's order, as PostgreSQL itself prints it.

    `query` is one SELECT with `$1 … $n`; the connection must load raw JSON, as `connect`'s do.
    """
    text = f"""
        select pg_catalog.json_build_object(
            'rows', coalesce(pg_catalog.json_agg(answer), '[]'::pg_catalog.json))
          from (
            {query}
          ) as answer"""
    async with AsyncRawCursor(connection) as cursor:
        await cursor.execute(text.encode(), values)
        answer: list[tuple[RawJson]] = await cursor.fetchall()
    return answer[0][0]


class Writable(NamedTuple):
    """A right to change something: what it is, and the statement that takes it away."""

    right: str
    remedy: str


_WRITABLE = """
with reach as (
    select r.oid, r.rolname
      from pg_catalog.pg_roles r
     where pg_catalog.pg_has_role(session_user, r.oid, 'member')
), super as (
    select pg_catalog.format('%I is a superuser', r.rolname) as thing,
           'create role <reader> login; grant pg_read_all_data to <reader>' as remedy
      from pg_catalog.pg_roles r
     where r.rolname = session_user
       and r.rolsuper
), relation as (
    select c.oid, c.relowner as owner, c.relacl as acl,
           pg_catalog.format('%I.%I', n.nspname, c.relname) as name
      from pg_catalog.pg_class c
      join pg_catalog.pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p', 'v', 'm', 'f')
       and n.nspname not in ('pg_catalog', 'information_schema')
       and n.nspname !~ '^pg_(toast|temp)'
), thing as (
    select 'table' as kind, name, owner, acl, '' as part
      from relation
    union all
    select 'table', r.name, null, a.attacl, pg_catalog.format(' (%I)', a.attname)
      from relation r
      join pg_catalog.pg_attribute a on a.attrelid = r.oid
     where a.attacl is not null
    union all
    select 'schema', pg_catalog.quote_ident(n.nspname), n.nspowner, n.nspacl, ''
      from pg_catalog.pg_namespace n
     where n.nspname !~ '^pg_(toast|temp)'
    union all
    select 'database', pg_catalog.quote_ident(d.datname), d.datdba, d.datacl, ''
      from pg_catalog.pg_database d
     where d.datname = pg_catalog.current_database()
), found as (
    select pg_catalog.format('it owns %s %s', t.kind, t.name) as thing,
           pg_catalog.format('alter %s %s owner to <another role>', t.kind, t.name) as remedy
      from thing t
      join reach on reach.oid = t.owner
    union all
    select pg_catalog.format('%s%s on %s %s', a.privilege_type, t.part, t.kind, t.name),
           pg_catalog.format('revoke %s%s on %s %s from %s', pg_catalog.lower(a.privilege_type),
               t.part, t.kind, t.name, coalesce(pg_catalog.quote_ident(reach.rolname), 'public'))
      from thing t
     cross join lateral pg_catalog.aclexplode(t.acl) a
      left join reach on reach.oid = a.grantee
     where (a.grantee = 0 or reach.oid is not null)
       and a.grantee is distinct from t.owner
       and a.privilege_type = any (
               case t.kind when 'table' then array['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE']
                           else array['CREATE'] end)
    union all
    select pg_catalog.format('it is a member of %I%s', r.rolname,
               case when r.rolsuper then ', a superuser' end),
           pg_catalog.format('revoke %I from %I', r.rolname, reach.rolname)
      from pg_catalog.pg_roles r
      join pg_catalog.pg_auth_members m on m.roleid = r.oid
      join reach on reach.oid = m.member
     where r.rolsuper
        or r.rolname in ('pg_write_all_data', 'pg_write_server_files', 'pg_execute_server_program')
)
select thing, remedy from super
union
select thing, remedy from found where not exists (select from super)
 order by 1
"""


async def writable(connection: Connection) -> list[Writable]:
    """What this login may change, by itself or through a role it can become; [] if it only reads.

    Looked at: INSERT, UPDATE, DELETE, TRUNCATE, columns included, on every table and view outside
    the system schemas; CREATE in every schema but temporary ones and in the database; ownership;
    membership in roles that write everything, superusers among them.
    """
    async with connection.cursor(row_factory=args_row(Writable)) as cursor:
        await cursor.execute(_WRITABLE)
        return await cursor.fetchall()
