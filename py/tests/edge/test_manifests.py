"""Manifests at the edge: how long a copy is kept, and that nobody is refused by an old one."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any, ClassVar, cast

import httpx2
import pytest
import structlog

from pgplane.edge.checking.checks import Checks
from pgplane.edge.checking.wording import Wrong
from pgplane.edge.database import QueueDatabase
from pgplane.edge.edge import Edge
from pgplane.edge.manifests import manifests as module
from pgplane.edge.manifests.manifests import KEEP_SECONDS, SURE_SECONDS, Manifest, Manifests
from pgplane.edge.questions import Question
from pgplane.errors import LedgerError, NotReady, Unavailable
from pgplane.ledger.records import ManifestEntry

from ..support.edges import ASK, Plane, problem, until
from ..support.issuer import Issuer

QUEUE = "surface-flights"
ANYTHING: dict[str, Any] = {"type": "object"}
NOTHING: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
WITH_A = Question("ask", '{"a": 1}', None)
NO_A = [Wrong("a", "Extra inputs are not permitted")]


class Database:
    """A queue database with one surface: what it answers, when, and how often it was asked."""

    checks: ClassVar[Checks]

    def __init__(self, **schemas: dict[str, Any]) -> None:
        self.operations = offered(schemas)
        self.error: LedgerError | None = None
        self.calls = 0
        self.now = 0.0
        self.open = asyncio.Event()
        self.open.set()
        self.manifests = Manifests(cast(QueueDatabase, self), self.checks, lambda: self.now)

    async def call(self, _function: object, _queue: str) -> list[ManifestEntry]:
        self.calls += 1
        found, error = self.operations, self.error
        await self.open.wait()
        if error is not None:
            raise error
        return found


@pytest.fixture(autouse=True)
async def checks() -> AsyncIterator[None]:
    Database.checks = Checks()
    yield
    await Database.checks.close()


def offered(schemas: Mapping[str, dict[str, Any]]) -> list[ManifestEntry]:
    """Operations by name and version: `ask`, or `ask_2` for its second one."""
    return [
        ManifestEntry(
            name=key.partition("_")[0],
            version=int(key.partition("_")[2] or 1),
            params_schema=json.dumps(schema).encode(),
            ttl_seconds=0,
            timeout_seconds=30,
            per_actor=False,
        )
        for key, schema in schemas.items()
    ]


async def test_a_copy_is_kept_for_its_time() -> None:
    database = Database(ask=ANYTHING)
    first = await database.manifests.get(QUEUE)
    database.now += KEEP_SECONDS
    assert await database.manifests.get(QUEUE) is first
    database.now += 0.1
    assert await database.manifests.get(QUEUE) is not first
    assert database.calls == 2


async def test_each_queue_has_a_copy_of_its_own() -> None:
    database = Database(ask=ANYTHING)
    assert await database.manifests.faults(QUEUE, WITH_A) == []
    database.operations = offered({"ask": NOTHING})
    assert await database.manifests.faults("surface-crews", WITH_A) == NO_A
    assert await database.manifests.faults(QUEUE, WITH_A) == []
    assert database.calls == 2


async def test_callers_at_once_share_one_fetch() -> None:
    database = Database(ask=ANYTHING)
    database.open.clear()
    gets = [asyncio.create_task(database.manifests.get(QUEUE)) for _ in range(20)]
    await until(lambda: database.calls == 1)
    database.open.set()
    assert len(set(await asyncio.gather(*gets))) == 1
    assert database.calls == 1


async def test_a_caller_who_goes_away_leaves_the_fetch_to_the_others() -> None:
    database = Database(ask=ANYTHING)
    database.open.clear()
    first, second = (asyncio.create_task(database.manifests.get(QUEUE)) for _ in range(2))
    await until(lambda: database.calls == 1)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    database.open.set()
    assert (await second).find("ask", None) is not None
    assert database.calls == 1


async def test_a_fetch_that_fails_is_tried_again_by_the_next_caller() -> None:
    database = Database(ask=ANYTHING)
    database.error = NotReady("no manifest yet")
    for _ in range(2):
        with pytest.raises(NotReady):
            await database.manifests.get(QUEUE)
    database.error = None
    assert (await database.manifests.get(QUEUE)).find("ask", None) is not None
    assert database.calls == 3


async def test_an_old_copy_refuses_nothing_that_the_manifest_of_now_takes() -> None:
    database = Database(ask=NOTHING)
    assert await database.manifests.faults(QUEUE, WITH_A) == NO_A
    database.operations = offered({"ask": ANYTHING})
    database.now += SURE_SECONDS + 0.1
    assert await database.manifests.faults(QUEUE, WITH_A) == []
    assert database.calls == 2


async def test_a_young_copy_refuses_by_itself() -> None:
    database = Database(ask=NOTHING)
    for _ in range(3):
        assert await database.manifests.faults(QUEUE, WITH_A) == NO_A
        database.now += SURE_SECONDS / 2
    assert database.calls == 1


async def test_what_fits_an_old_copy_needs_no_new_one() -> None:
    database = Database(ask=ANYTHING)
    for _ in range(5):
        assert await database.manifests.faults(QUEUE, WITH_A) == []
        database.now += KEEP_SECONDS / 5
    assert database.calls == 1


async def test_a_fetch_that_began_too_early_does_not_refuse() -> None:
    database = Database(ask=NOTHING)
    database.open.clear()
    early = asyncio.create_task(database.manifests.get(QUEUE))
    await until(lambda: database.calls == 1)
    database.operations = offered({"ask": ANYTHING})
    database.now += SURE_SECONDS + 0.1
    late = asyncio.create_task(database.manifests.faults(QUEUE, WITH_A))
    await asyncio.sleep(0)
    database.open.set()
    assert await (await early).faults(WITH_A) == NO_A
    assert await late == []
    assert database.calls == 2


@pytest.mark.parametrize("known", [False, True])
async def test_in_trouble_nothing_is_refused(known: bool) -> None:
    database = Database(ask=NOTHING)
    if known:
        assert await database.manifests.faults(QUEUE, WITH_A) == NO_A
        database.now += SURE_SECONDS + 0.1
    database.error = Unavailable("the queue database is unreachable")
    assert await database.manifests.faults(QUEUE, WITH_A) == []


async def test_an_unknown_operation_is_for_the_ledger_to_refuse() -> None:
    database = Database(ask=NOTHING)
    for question in (Question("tell", "[]", None), Question("ask", '{"a": 1}', 9)):
        assert await database.manifests.faults(QUEUE, question) == []


async def test_without_a_version_the_newest_is_meant() -> None:
    database = Database(ask=ANYTHING, ask_10=NOTHING, ask_9=ANYTHING)
    assert await database.manifests.faults(QUEUE, WITH_A) == NO_A
    for version, wrong in ((1, []), (9, []), (10, NO_A)):
        question = Question("ask", '{"a": 1}', version)
        assert await database.manifests.faults(QUEUE, question) == wrong


async def test_only_what_changed_is_compiled_again() -> None:
    database = Database(ask=ANYTHING, tell=ANYTHING)
    before = await database.manifests.get(QUEUE)
    database.operations = offered({"ask": ANYTHING, "tell": NOTHING})
    database.now += KEEP_SECONDS + 0.1
    after = await database.manifests.get(QUEUE)

    def schema(manifest: Manifest, name: str) -> object:
        offer = manifest.find(name, None)
        assert offer is not None
        return offer.schema

    assert schema(after, "ask") is schema(before, "ask")
    assert schema(after, "tell") is not schema(before, "tell")


async def test_of_a_schema_that_cannot_be_used_the_log_is_told_once() -> None:
    database = Database(ask={"type": "nonsense"})
    with structlog.testing.capture_logs() as logged:
        for _ in range(3):
            assert await database.manifests.faults(QUEUE, WITH_A) == []
            database.now += KEEP_SECONDS + 0.1
    assert database.calls == 3
    (entry,) = logged
    assert entry["event"] == "manifest.unusable_schema"
    assert (entry["queue"], entry["operation"], entry["version"]) == (QUEUE, "ask", 1)


def register(plane: Plane, schema: dict[str, Any]) -> None:
    """Have `airlines` take params of this schema."""
    manifest = [{"name": "airlines", "version": 1, "params": schema}]
    plane.look("select plane.register_manifest(%s, %s)", QUEUE, json.dumps(manifest))


async def test_params_that_do_not_fit_never_become_a_job(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer
) -> None:
    register(plane, NOTHING)
    question = {"operation": "airlines", "params": {"b": 2, "a": 1}}
    response = await client.post(ASK, json=question, headers=issuer.bearer())
    document = problem(response, 422)
    assert (document["code"], document["detail"]) == ("PARAMS", "invalid params")
    assert document["errors"] == [
        {"field": name, "message": "Extra inputs are not permitted"} for name in ("a", "b")
    ]
    assert plane.jobs() == 0


async def test_a_manifest_that_changes_is_heeded(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SURE_SECONDS", 0.0)
    question = {"operation": "airlines", "params": {"a": 1}}
    for schema, status in ((NOTHING, 422), (ANYTHING, 202)):
        register(plane, schema)
        response = await client.post(ASK, json=question, headers=issuer.bearer())
        assert response.status_code == status


async def test_a_question_costs_no_fetch_while_the_copy_is_young(
    edge: tuple[httpx2.AsyncClient, Edge], issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, parts = edge
    called: list[str] = []
    call = parts.database.call

    async def counted(function: Any, *args: Any, **kwargs: Any) -> Any:
        called.append(function.__name__)
        return await call(function, *args, **kwargs)

    monkeypatch.setattr(parts.database, "call", counted)
    for number in range(5):
        question = {"operation": "airlines", "params": {"n": number}}
        response = await client.post(ASK, json=question, headers=issuer.bearer())
        assert response.status_code == 202
    assert called.count("submit_request") == 5
    assert called.count("get_manifest") == 1
