"""Sessions: raw JSON, read-only transactions, and what a credential may change."""

from collections.abc import Iterator

import psycopg
import pytest
from psycopg.rows import dict_row

from pgplane import session

from ..conftest import ClientDatabase
from ..support.postgres import Server, for_role


async def test_json_arrives_as_the_text_that_postgresql_printed(queue_db: str) -> None:
    connection = await session.connect(queue_db, application_name="test")
    async with connection:
        cursor = await connection.execute(
            """select '{"b": 1.50, "a": 12345678901234567890}'::jsonb, '{"n":  1e400}'::json"""
        )
        assert await cursor.fetchone() == (
            b'{"a": 12345678901234567890, "b": 1.50}',
            b'{"n":  1e400}',
        )


async def test_a_pool_lends_connections_in_autocommit_with_raw_json(queue_db: str) -> None:
    async with (
        session.pool(queue_db, application_name="test", max_size=1) as pool,
        pool.connection() as connection,
    ):
        assert connection.autocommit
        cursor = await connection.execute("select '[1.0]'::jsonb")
        assert await cursor.fetchone() == (b"[1.0]",)


async def test_reading_sees_one_snapshot_and_changes_nothing(client_db: ClientDatabase) -> None:
    with psycopg.connect(client_db.owner, autocommit=True) as owner:
        owner.execute("create table t (id int)")
        async with session.client_pool(client_db.writer, size=1) as pool:
            async with pool.connection() as connection, session.reading(connection, 5) as client:
                assert await count(client) == 0
                owner.execute("insert into t values (1)")
                assert await count(client) == 0
                with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
                    async with client.transaction():
                        await client.execute("insert into t values (2)")
                with pytest.raises(psycopg.errors.ActiveSqlTransaction):
                    async with client.transaction():
                        await client.execute("set transaction read write")
            async with pool.connection() as connection, session.reading(connection, 5) as client:
                assert await count(client) == 1


async def count(client: session.Connection) -> int:
    row = await (await client.execute("select count(*) from t")).fetchone()
    assert row is not None
    return int(row[0])


async def test_a_statement_has_its_time(client_db: ClientDatabase) -> None:
    async with (
        session.client_pool(client_db.reader, size=1) as pool,
        pool.connection() as connection,
    ):
        with pytest.raises(psycopg.errors.QueryCanceled):
            async with session.reading(connection, 0.05) as client:
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
    async with session.client_pool(client_db.reader, size=1) as pool:
        async with pool.connection() as connection:
            pid = connection.info.backend_pid
            async with session.reading(connection, 5) as client:
                client.row_factory = dict_row
                for statement in LEAVINGS.split(";"):
                    await client.execute(statement.encode())
                await client.set_read_only(False)
        async with pool.connection() as connection, session.reading(connection, 5) as client:
            assert connection.info.backend_pid == pid
            row = await (await client.execute(LEFT)).fetchone()
            assert row is not None
            assert [bool(left) for left in row] == [False] * 7
            row = await (await client.execute("show transaction_read_only")).fetchone()
            assert row == ("on",)


async def test_a_connection_that_the_server_closed_is_not_lent(
    client_db: ClientDatabase, queue_db: str
) -> None:
    async with session.client_pool(client_db.reader, size=1) as pool:
        async with pool.connection() as connection:
            closed = connection.info.backend_pid
        with psycopg.connect(queue_db, autocommit=True) as superuser:
            superuser.execute("select pg_terminate_backend(%s, 10000)", [closed])
        async with pool.connection() as connection, session.reading(connection, 5) as client:
            row = await (await client.execute("select 1")).fetchone()
            assert row == (1,)


@pytest.fixture
def owner(client_db: ClientDatabase) -> Iterator[psycopg.Connection]:
    with psycopg.connect(client_db.owner, autocommit=True) as connection:
        connection.execute("create table flights (id int, note text)")
        connection.execute("create view late as select * from flights")
        yield connection


async def writable(url: str) -> list[tuple[str, str]]:
    connection = await session.connect(url, application_name="test")
    async with connection:
        return [(found.right, found.remedy) for found in await session.writable(connection)]


async def test_a_reader_may_change_nothing(
    client_db: ClientDatabase, owner: psycopg.Connection
) -> None:
    assert await writable(client_db.reader) == []


@pytest.mark.parametrize(
    ("grant", "right", "remedy"),
    [
        (
            "grant insert on flights to client_reader",
            "INSERT on table public.flights",
            "revoke insert on table public.flights from client_reader",
        ),
        (
            "grant update (note) on flights to client_reader",
            "UPDATE (note) on table public.flights",
            "revoke update (note) on table public.flights from client_reader",
        ),
        (
            "grant truncate on flights to public",
            "TRUNCATE on table public.flights",
            "revoke truncate on table public.flights from public",
        ),
        (
            "grant delete on late to client_reader",
            "DELETE on table public.late",
            "revoke delete on table public.late from client_reader",
        ),
        (
            "grant create on schema public to public",
            "CREATE on schema public",
            "revoke create on schema public from public",
        ),
    ],
)
async def test_a_right_to_write_is_found_and_its_revoke_helps(
    client_db: ClientDatabase, owner: psycopg.Connection, grant: str, right: str, remedy: str
) -> None:
    owner.execute(grant.encode())
    assert await writable(client_db.reader) == [(right, remedy)]
    owner.execute(remedy.encode())
    assert await writable(client_db.reader) == []


async def test_a_role_that_the_login_can_become_counts(
    client_db: ClientDatabase, owner: psycopg.Connection, server: Server
) -> None:
    with psycopg.connect(server.database_url("postgres"), autocommit=True) as superuser:
        superuser.execute("create role hidden_writer nologin")
        superuser.execute("create role heir login noinherit in role hidden_writer")
        try:
            owner.execute("grant insert on flights to hidden_writer")
            assert await writable(for_role(client_db.owner, "heir")) == [
                (
                    "INSERT on table public.flights",
                    "revoke insert on table public.flights from hidden_writer",
                )
            ]
        finally:
            owner.execute("revoke all on flights from hidden_writer")
            superuser.execute("drop role heir")
            superuser.execute("drop role hidden_writer")


@pytest.mark.parametrize(
    ("role", "right", "remedy"),
    [
        ("boss superuser", "it is a member of boss, a superuser", "revoke boss from heir"),
        (
            "boss in role pg_execute_server_program",
            "it is a member of pg_execute_server_program",
            "revoke pg_execute_server_program from boss",
        ),
        (
            "boss in role pg_write_server_files",
            "it is a member of pg_write_server_files",
            "revoke pg_write_server_files from boss",
        ),
    ],
)
async def test_a_role_that_writes_everything_counts(
    client_db: ClientDatabase, server: Server, role: str, right: str, remedy: str
) -> None:
    with psycopg.connect(server.database_url("postgres"), autocommit=True) as superuser:
        superuser.execute(f"create role {role}".encode())
        superuser.execute("create role heir login noinherit in role boss")
        try:
            assert (right, remedy) in await writable(for_role(client_db.owner, "heir"))
            superuser.execute(remedy.encode())
            assert await writable(for_role(client_db.owner, "heir")) == []
        finally:
            superuser.execute("drop role heir")
            superuser.execute("drop role boss")


async def test_owners_and_superusers_are_writers(
    client_db: ClientDatabase, owner: psycopg.Connection
) -> None:
    found = await writable(client_db.owner)
    assert (
        "it owns table public.flights",
        "alter table public.flights owner to <another role>",
    ) in found
    assert await writable(for_role(client_db.owner, "postgres")) == [
        (
            "postgres is a superuser",
            "create role <reader> login; grant pg_read_all_data to <reader>",
        )
    ]


async def test_names_that_need_quotes_are_quoted(
    client_db: ClientDatabase, owner: psycopg.Connection
) -> None:
    owner.execute('create table "We Ird" ("Co l" int)')
    owner.execute('grant insert ("Co l") on "We Ird" to client_reader')
    assert await writable(client_db.reader) == [
        (
            'INSERT ("Co l") on table public."We Ird"',
            'revoke insert ("Co l") on table public."We Ird" from client_reader',
        )
    ]
