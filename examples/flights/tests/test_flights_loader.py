"""The client database: complete, owned by somebody else, and only readable."""

from __future__ import annotations

import psycopg.conninfo
import pytest
from pgplane.rights import writable
from pgplane.session import connect
from psycopg import AsyncConnection, errors
from psycopg.conninfo import conninfo_to_dict

from flights.database import loader, source
from flights.database.dsn import url
from flights.database.loader import ClientDatabase


def password_of(database: ClientDatabase) -> str:
    """The reader's password: setting another one would lock the other tests out."""
    return str(conninfo_to_dict(database.reader_url)["password"])


@pytest.mark.parametrize("table", source.TABLES, ids=lambda table: table.name)
async def test_every_row_of_the_package_is_there(
    flights_db: ClientDatabase, table: source.Table
) -> None:
    async with await AsyncConnection.connect(flights_db.reader_url) as reader:
        cursor = await reader.execute(f"select count(*) from nyc.{table.name}")
        assert await cursor.fetchone() == (table.rows,)


async def test_values_arrive_as_they_are_in_the_file(flights_db: ClientDatabase) -> None:
    async with await AsyncConnection.connect(flights_db.reader_url) as reader:
        cursor = await reader.execute(
            """
            select dep_time, dep_delay, tailnum, date::text, time_hour at time zone 'UTC'
                       = '2013-01-01 10:00'
              from nyc.flights where carrier = 'UA' and flight = 1545 and date = '2013-01-01'
            """
        )
        assert await cursor.fetchall() == [(517, 2, "N14228", "2013-01-01", True)]
        cursor = await reader.execute("select count(*) from nyc.flights where dep_time is null")
        assert await cursor.fetchone() == (8255,)


async def test_a_loaded_database_is_recognised(
    client_admin: str, flights_db: ClientDatabase
) -> None:
    loaded: list[str] = []
    again = await loader.ensure(
        client_admin,
        password=password_of(flights_db),
        report=lambda of, _part: loaded.append(of),
    )
    assert (again.loaded, loaded) == (False, [])
    assert again.reader_url == flights_db.reader_url


async def test_a_load_that_breaks_off_leaves_nothing_and_can_be_repeated(
    client_admin: str, flights_db: ClientDatabase
) -> None:
    class StoppedError(Exception):
        pass

    def interrupt(of: str, _part: float) -> None:
        if of == "flights":
            raise StoppedError

    with pytest.raises(StoppedError):
        await loader.ensure(
            client_admin, password=password_of(flights_db), report=interrupt, database="half"
        )
    async with await AsyncConnection.connect(url(client_admin, dbname="half")) as inside:
        cursor = await inside.execute("select to_regnamespace('nyc') is null")
        assert await cursor.fetchone() == (True,)


async def test_everything_belongs_to_the_owner(flights_db: ClientDatabase) -> None:
    async with await AsyncConnection.connect(flights_db.admin_url) as admin:
        cursor = await admin.execute(
            """
            select distinct relowner::regrole::text from pg_class
             where relnamespace = 'nyc'::regnamespace
            """
        )
        assert await cursor.fetchall() == [("flights_owner",)]


async def test_the_reader_can_change_nothing(flights_db: ClientDatabase) -> None:
    async with await connect(flights_db.reader_url, application_name="test") as reader:
        assert await writable(reader) == []


@pytest.mark.parametrize(
    "statement",
    [
        "insert into nyc.airlines values ('ZZ', 'Nobody')",
        "update nyc.flights set dep_delay = 0",
        "delete from nyc.planes",
        "truncate nyc.weather",
        "create table nyc.mine (i int)",
        "create table public.mine (i int)",
        "create schema mine",
        "set role flights_owner",
    ],
)
async def test_the_server_refuses_the_reader_who_tries(
    flights_db: ClientDatabase, statement: str
) -> None:
    async with await AsyncConnection.connect(flights_db.reader_url) as reader:
        with pytest.raises(errors.InsufficientPrivilege):
            await reader.execute(statement.encode())


async def test_the_reader_may_use_temporary_tables(flights_db: ClientDatabase) -> None:
    async with await AsyncConnection.connect(flights_db.reader_url) as reader:
        await reader.execute("create temporary table mine as select * from nyc.airlines")
        cursor = await reader.execute("select count(*) from mine")
        assert await cursor.fetchone() == (16,)


async def test_every_table_and_column_is_explained(flights_db: ClientDatabase) -> None:
    async with await AsyncConnection.connect(flights_db.reader_url) as reader:
        cursor = await reader.execute(
            """
            select c.relname, a.attname
              from pg_class c
              join pg_attribute a on a.attrelid = c.oid and a.attnum >= 0 and not a.attisdropped
             where c.relnamespace = 'nyc'::regnamespace and c.relkind = 'r'
               and (obj_description(c.oid, 'pg_class') is null
                    or col_description(c.oid, a.attnum) is null)
            """
        )
        assert await cursor.fetchall() == []


def test_a_missing_package_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(source.SourceMissingError, match="make install"):
        source.directory()


@pytest.mark.parametrize(
    "dsn",
    [
        "host=127.0.0.1 port=5433 user=me password='p@ss / w' dbname=x",
        "postgresql://me:p%40ss%20%2F%20w@127.0.0.1:5433/x",
        "postgresql://me@one:5433,two:5434/x?target_session_attrs=read-write",
        "host=/var/run/postgresql dbname=x",
    ],
)
def test_a_url_means_what_its_dsn_meant(dsn: str) -> None:
    assert conninfo_to_dict(url(dsn)) == conninfo_to_dict(dsn)
    assert conninfo_to_dict(url(dsn, dbname="y")) == {**conninfo_to_dict(dsn), "dbname": "y"}
    assert psycopg.conninfo.make_conninfo(url(dsn))
