"""Surfaces: what an author declares, and what is refused when it is declared."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import fields
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import AsyncConnection
from psycopg.types.json import Jsonb
from pydantic import ConfigDict, Field, ValidationError

from pgplane import client_database
from pgplane.errors import Refusal
from pgplane.operation import Declared, Options
from pgplane.session import RawJson
from pgplane.sqlfile import SqlFileError
from pgplane.surface import Blob, BlobRef, Envelope, Params, Surface, Work

from ..conftest import ClientDatabase

ADA = Envelope(client="acme", scope=("EWR", "JFK"), actor="ada")


class Search(Params):
    """What to look for."""

    search: str | None = None
    limit: int = 10
    from_: int = Field(default=0, alias="from")


async def answer(params: Search, envelope: Envelope, client: AsyncConnection[Any]) -> object:
    return params.search


def test_an_operation_is_found_by_name_and_version() -> None:
    surface = Surface("test")
    surface.operation("find")(answer)
    surface.operation("find", version=3, ttl_seconds=60)(answer)

    newest = surface.get("find")
    assert newest is not None
    assert (newest.version, newest.ttl_seconds) == (3, 60)
    assert surface.get("find", 2) is None
    assert surface.get("lose") is None


def test_the_manifest_tells_callers_what_they_may_ask() -> None:
    surface = Surface("test")
    surface.operation("find", version=2, ttl_seconds=60, timeout_seconds=9, per_actor=True)(answer)

    (operation,) = surface.manifest()
    params = operation.pop("params")
    assert operation == {
        "name": "find",
        "version": 2,
        "ttl_seconds": 60,
        "timeout_seconds": 9,
        "per_actor": True,
    }
    assert isinstance(params, dict)
    assert params["additionalProperties"] is False
    assert set(params["properties"]) == {"search", "limit", "from"}


def test_unknown_fields_are_refused() -> None:
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        Search.model_validate_json('{"serach": "x"}')


def test_staff_sees_every_branch_others_their_scope() -> None:
    assert ADA.sees("EWR")
    assert not ADA.sees("LGA")
    assert ADA.model_copy(update={"staff": True}).sees("LGA")


def test_an_answer_is_tagged_by_client_actor_and_what_the_author_adds() -> None:
    surface = Surface("test")
    surface.operation("find", tags=lambda params, envelope: [f"s:{params.search}"])(answer)
    operation = surface.get("find")
    assert operation is not None

    params = Search(search="x")
    assert operation.cache_tags(params, ADA) == ("c:acme", "u:ada", "s:x")
    nobody = ADA.model_copy(update={"actor": None})
    assert operation.cache_tags(params, nobody) == ("c:acme", "s:x")


class Told:
    """Work that remembers what it was given."""

    def __init__(self) -> None:
        self.csv: list[tuple[object, ...]] = []

    def progress(self, done: int, total: int | None = None, message: str | None = None) -> None:
        raise AssertionError("nobody tells progress here")

    def blob(
        self, content_type: str, filename: str | None = None
    ) -> AbstractAsyncContextManager[Blob]:
        raise AssertionError("nobody writes a blob by hand here")

    async def copy_csv(
        self,
        client: AsyncConnection[Any],
        query: str,
        values: Sequence[object] | Mapping[str, object] | None,
        filename: str,
        total: int | None = None,
    ) -> BlobRef:
        self.csv.append((client, query, values, filename))
        return {"blobRef": {"blob": 1}}


NOBODY: Any = object()
"""A connection that no handler here uses."""


async def answered(surface: Surface, name: str, work: Work, params: Params) -> object:
    operation = surface.get(name)
    assert operation is not None
    return await operation.answer(params, ADA, NOBODY, work)


async def test_a_handler_with_a_fourth_parameter_is_given_its_work() -> None:
    surface, told = Surface("test"), Told()

    @surface.operation("worker")
    async def worker(
        params: Search, envelope: Envelope, client: AsyncConnection[Any], work: Work
    ) -> object:
        return work

    @surface.operation("plain")
    async def plain(
        params: Search, envelope: Envelope, client: AsyncConnection[Any], limit: int = 7
    ) -> object:
        return limit

    @surface.operation("greedy")
    async def greedy(params: Search, *others: object) -> object:
        return len(others)

    assert await answered(surface, "worker", told, Search()) is told
    assert await answered(surface, "plain", told, Search()) == 7, "its own default"
    assert await answered(surface, "greedy", told, Search()) == 2


async def test_a_sql_file_that_is_an_export_answers_with_a_file(tmp_path: Path) -> None:
    path = tmp_path / "all.sql"
    path.write_text("select '5 %' where :search::text is null and 'x' = any (:scope) and :from > 1")
    surface, told = Surface("test"), Told()
    surface.sql_operation("all", path, Search, csv=True, ttl_seconds=60)
    operation = surface.get("all")
    assert operation is not None
    assert operation.ttl_seconds == 60
    assert await answered(surface, "all", told, Search(search="it's")) == {"blobRef": {"blob": 1}}
    assert told.csv == [
        (
            NOBODY,
            "select '5 %%' where ((%(search)s)::text)::text is null"
            " and 'x' = any (((%(scope)s)::text[])) and ((%(from)s)::bigint) > 1",
            {"search": "it's", "scope": ["EWR", "JFK"], "from": 0},
            "all.csv",
        )
    ]


def test_an_option_that_is_none_is_refused() -> None:
    with pytest.raises(TypeError, match="tll_seconds"):
        Surface("test").operation("find", tll_seconds=60)(answer)  # type: ignore[call-arg]


def test_what_can_be_declared_is_what_the_options_are() -> None:
    assert set(Declared.__annotations__) == {field.name for field in fields(Options)}


def test_who_keeps_answers_is_told_of_each_tag_that_is_invalidated() -> None:
    surface = Surface("test")
    surface.invalidate("nobody is told")
    first: list[str] = []
    second: list[str] = []
    surface.on_invalidate(first.append)
    surface.on_invalidate(second.append)
    surface.invalidate("c:acme")
    assert first == second == ["c:acme"]


class Open(Params):
    """Lets anything in, which no operation may."""

    model_config = ConfigDict(extra="allow")


def test_what_cannot_work_is_refused_at_once() -> None:
    surface = Surface("test")
    surface.operation("find")(answer)

    async def untyped(params, envelope, client):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202, RUF100
        return None

    async def open_ended(params: Open, envelope: Envelope, client: AsyncConnection[Any]) -> object:
        return None

    with pytest.raises(ValueError, match="find v1 is there already"):
        surface.operation("find")(answer)
    with pytest.raises(TypeError, match="annotate the first parameter"):
        surface.operation("untyped")(untyped)
    with pytest.raises(TypeError, match="extra='forbid'"):
        surface.operation("open")(open_ended)


@pytest.mark.parametrize("name", ["", "Flights!", "-dev", "flights-dev", "_dev", "x" * 41, "x\n"])
def test_a_surface_is_named_so_that_its_queue_can_be(name: str) -> None:
    Surface("x" * 40)
    with pytest.raises(ValueError, match="1 to 40 lower-case letters"):
        Surface(name)


LEAST: dict[str, Any] = {"version": 1, "ttl_seconds": 0, "timeout_seconds": 1}
MOST: dict[str, Any] = {
    "version": 1_000_000,
    "ttl_seconds": 31_536_000,
    "timeout_seconds": 604_800,
}


@pytest.mark.parametrize(
    ("name", "declared"),
    [
        ("find it", LEAST),
        ("1st", LEAST),
        ("", LEAST),
        ("x" * 101, LEAST),
        ("find\n", LEAST),
        ("find", LEAST | {"version": 0}),
        ("find", MOST | {"version": 1_000_001}),
        ("find", LEAST | {"version": 1.5}),
        ("find", LEAST | {"ttl_seconds": -1}),
        ("find", MOST | {"ttl_seconds": 31_536_001}),
        ("find", LEAST | {"timeout_seconds": 0}),
        ("find", MOST | {"timeout_seconds": 604_801}),
    ],
)
def test_the_declaration_refuses_what_the_ledger_would(
    queue_db: str, name: str, declared: dict[str, Any]
) -> None:
    with pytest.raises(ValueError, match=r"^(an operation's name|operation find:)"):
        Surface("test").operation(name, **declared)(answer)
    with (
        psycopg.connect(queue_db) as connection,
        pytest.raises(psycopg.Error, match="an operation of the manifest is not well formed"),
    ):
        register(connection, [{"name": name, **declared}])


def test_the_ledger_takes_what_the_declaration_takes(queue_db: str) -> None:
    surface = Surface("x" * 40)
    surface.operation("A" + "b.c:d-e_1" * 11, **LEAST)(answer)
    surface.operation("find", **MOST)(answer)
    with psycopg.connect(queue_db) as connection:
        register(connection, surface.manifest(), surface.queue)


def register(
    connection: psycopg.Connection[Any],
    operations: list[dict[str, object]],
    queue: str = "surface-test",
) -> None:
    connection.execute("select plane.create_queue(%s)", [queue])
    connection.execute("select plane.register_manifest(%s, %s)", [queue, Jsonb(operations)])


@pytest.mark.parametrize(
    ("queue", "answered"),
    [
        ("surface-test", True),
        ("surface-test-dev", True),
        ("surface-tests", False),
        ("surface-other", False),
        ("test", False),
        ("surface-test-", False),
        ("surface-test-" + "x" * 21, False),
        ("surface-test-dev\n", False),
    ],
)
def test_a_surface_answers_its_own_queue_in_any_tier(queue: str, answered: bool) -> None:
    assert Surface("test").answers(queue) is answered


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("select :serach", "ask.sql, :serach is neither a field of Search nor reserved"),
        ("select :actor", "ask.sql, :actor needs per_actor=True, else callers share the answer"),
        ("select 'open", "ask.sql, line 1: ' is never closed"),
    ],
)
def test_a_wrong_sql_file_is_refused_at_once(tmp_path: Path, source: str, complaint: str) -> None:
    path = tmp_path / "ask.sql"
    path.write_text(source)
    with pytest.raises(SqlFileError) as refused:
        Surface("test").sql_operation("ask", path, Search)
    assert str(refused.value) == complaint


class Taken(Params):
    """Uses a reserved name."""

    scope: str


def test_a_field_cannot_take_a_reserved_name(tmp_path: Path) -> None:
    path = tmp_path / "ask.sql"
    path.write_text("select :scope")
    with pytest.raises(SqlFileError, match=":scope is the envelope's"):
        Surface("test").sql_operation("ask", path, Taken)


async def ask(client_db: ClientDatabase, path: Path, params: Search) -> bytes:
    surface = Surface("test")
    surface.sql_operation("ask", path, Search, per_actor=True)
    operation = surface.get("ask")
    assert operation is not None
    async with (
        client_database.pool(client_db.reader, size=1) as pool,
        pool.connection() as connection,
        client_database.reading(connection, 5) as reader,
    ):
        result = await operation.handler(params, ADA, reader)
    assert isinstance(result, RawJson)
    return result


async def test_a_sql_file_answers_as_postgresql_prints_it(
    client_db: ClientDatabase, tmp_path: Path
) -> None:
    with psycopg.connect(client_db.owner) as owner:
        owner.execute("create table big (id bigint, price numeric, origin text)")
        owner.execute(
            "insert into big values (9007199254740993, 0.10, 'EWR'), (2, 1e-20, 'LGA'),"
            " (3, 12.50, 'JFK')"
        )
    path = tmp_path / "ask.sql"
    path.write_text(
        "select id, price, :client || '/' || :actor as who -- :not a parameter\n"
        "  from big\n"
        " where (origin = any (:scope) or :staff)\n"
        "   and (:search is null or origin = :search)\n"
        " and id > :from order by id desc limit :limit;\n-- the end"
    )

    everything = await ask(client_db, path, Search())
    assert (
        everything.split()
        == (
            b'{"rows" : [{"id":9007199254740993,"price":0.10,"who":"acme/ada"},'
            b' {"id":3,"price":12.50,"who":"acme/ada"}]}'
        ).split()
    )
    one = await ask(client_db, path, Search(search="JFK", limit=1))
    assert one == b'{"rows" : [{"id":3,"price":12.50,"who":"acme/ada"}]}'
    assert await ask(client_db, path, Search(search="LGA")) == b'{"rows" : []}'
    with pytest.raises(Refusal) as refused:
        await ask(client_db, path, Search(limit=2**63))
    assert refused.value.payload() == {
        "status": 422,
        "code": "PARAMS",
        "message": "invalid params",
        "errors": [{"field": "limit", "message": "a whole number has 64 bits at most"}],
    }
