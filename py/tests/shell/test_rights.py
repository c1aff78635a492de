"""Rights: what a credential may change, and the statement that takes it away."""

from collections.abc import Iterator

import psycopg
import pytest

from pgplane import rights, session

from ..conftest import ClientDatabase
from ..support.postgres import Server, for_role


@pytest.fixture
def owner(client_db: ClientDatabase) -> Iterator[psycopg.Connection]:
    with psycopg.connect(client_db.owner, autocommit=True) as connection:
        connection.execute("create table flights (id int, note text)")
        connection.execute("create view late as select * from flights")
        yield connection


async def writable(url: str) -> list[tuple[str, str]]:
    connection = await session.connect(url, application_name="test")
    async with connection:
        return [(found.right, found.remedy) for found in await rights.writable(connection)]


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
