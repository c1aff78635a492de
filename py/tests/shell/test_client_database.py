"""The client database: read-only transactions, and nothing that one handler leaves to the next."""

from pathlib import Path

import psycopg
import pytest
from psycopg.rows import dict_row

from pgplane import sqlfile
from pgplane.client_database import pool, reading, write_csv
from pgplane.session import Connection

from ..conftest import ClientDatabase


async def test_reading_sees_one_snapshot_and_changes_nothing(client_db: ClientDatabase) -> None:
    with psycopg.connect(client_db.owner, autocommit=True) as owner:
        owner.execute("create table t (id int)")
        async with pool(client_db.writer, size=1) as clients:
            async with clients.connection() as connection, reading(connection, 5) as client:
                assert await count(client) == 0
                owner.execute("insert into t values (1)")
                assert await count(client) == 0
                with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
                    async with client.transaction():
                        await client.execute("insert into t values (2)")
                with pytest.raises(psycopg.errors.ActiveSqlTransaction):
                    async with client.transaction():
                        await client.execute("set transaction read write")
            async with clients.connection() as connection, reading(connection, 5) as client:
                assert await count(client) == 1


async def count(client: Connection) -> int:
    row = await (await client.execute("select count(*) from t")).fetchone()
    assert row is not None
    return int(row[0])


async def test_a_statement_has_its_time(client_db: ClientDatabase) -> None:
    async with (
        pool(client_db.reader, size=1) as clients,
        clients.connection() as connection,
    ):
        with pytest.raises(psycopg.errors.QueryCanceled):
            async with reading(connection, 0.05) as client:
                await client.execute("select pg_sleep(30)")
        row = await (await connection.execute("show statement_timeout")).fetchone()
        assert row == ("0",), "the limit ends with the transaction"


LEAVINGS = """
    set search_path = elsewhere; set app.client = 'acme'; set lock_timeout = '1ms';
    listen gossip; prepare kept as select 1; select pg_advisory_lock(1);
    declare held cursor with hold for select 'a row of acme'; commit
"""
LEFT = """
    select current_setting('search_path') = 'elsewhere',
           current_setting('app.client', true) = 'acme',
           current_setting('lock_timeout') = '1ms', (select count(*) from pg_listening_channels()),
           (select count(*) from pg_prepared_statements), (select count(*) from pg_cursors),
           (select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid())
"""


async def test_a_handler_finds_nothing_of_the_one_before(client_db: ClientDatabase) -> None:
    async with pool(client_db.reader, size=1) as clients:
        async with clients.connection() as connection:
            pid = connection.info.backend_pid
            async with reading(connection, 5) as client:
                client.row_factory = dict_row
                for statement in LEAVINGS.split(";"):
                    await client.execute(statement.encode())
                await client.set_read_only(False)
        async with clients.connection() as connection, reading(connection, 5) as client:
            assert connection.info.backend_pid == pid
            row = await (await client.execute(LEFT)).fetchone()
            assert row is not None
            assert [bool(left) for left in row] == [False] * 7
            row = await (await client.execute("show transaction_read_only")).fetchone()
            assert row == ("on",)


async def test_a_connection_that_the_server_closed_is_not_lent(
    client_db: ClientDatabase, queue_db: str
) -> None:
    async with pool(client_db.reader, size=1) as clients:
        async with clients.connection() as connection:
            closed = connection.info.backend_pid
        with psycopg.connect(queue_db, autocommit=True) as superuser:
            superuser.execute("select pg_terminate_backend(%s, 10000)", [closed])
        async with clients.connection() as connection, reading(connection, 5) as client:
            row = await (await client.execute("select 1")).fetchone()
            assert row == (1,)


async def test_rows_are_written_as_csv_with_their_values_put_in(
    client_db: ClientDatabase, tmp_path: Path
) -> None:
    path = tmp_path / "all.sql"
    path.write_text(
        "select :text || '100%' as \"Ümlaut\", n, :least as least, :none as nothing -- 5 % :x\n"
        "  from generate_series(1, 2) as n where n::text = any (:texts)"
    )
    types = {"texts": "text[]", "least": "bigint"}
    query = sqlfile.load(path, lambda name: types.get(name, "text"))
    values = {"text": 'it\'s \\ "%s", ', "least": -(2**63), "none": None, "texts": ["1", "2"]}
    written: list[bytes] = []

    async def write(data: bytes) -> None:
        written.append(data)

    async with (
        pool(client_db.reader, size=1) as clients,
        clients.connection() as connection,
        reading(connection, 5) as client,
    ):
        await write_csv(client, query.template, values, write)
        await write_csv(client, 'select 7 % 4 as "%%"', None, write)
    assert b"".join(written).decode() == (
        "Ümlaut,n,least,nothing\n"
        '"it\'s \\ ""%s"", 100%",1,-9223372036854775808,\n'
        '"it\'s \\ ""%s"", 100%",2,-9223372036854775808,\n'
        "%%\n3\n"
    )


async def test_a_csv_that_nobody_takes_any_more_ends_its_query(client_db: ClientDatabase) -> None:
    async with pool(client_db.reader, size=1) as clients:
        async with clients.connection() as connection:
            pid = connection.info.backend_pid
            with pytest.raises(ZeroDivisionError):
                async with reading(connection, 60) as client:
                    await write_csv(client, "select generate_series(1, 1e9)", None, refuse)
        async with clients.connection() as connection, reading(connection, 5) as client:
            assert connection.info.backend_pid == pid, "the connection is as good as before"
            row = await (await client.execute("select 1")).fetchone()
            assert row == (1,)


async def refuse(data: bytes) -> None:
    raise ZeroDivisionError
