"""Execution: gates, params, cache and single-flight around a handler."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import replace
from typing import Any, NoReturn

import psycopg
import pytest
from psycopg import AsyncConnection

from pgplane import ledger, session
from pgplane.errors import HttpError, Invalid, TooLarge
from pgplane.ledger.records import Claim
from pgplane.session import RawJson
from pgplane.surface import Envelope, Params, Surface
from pgplane.worker import execution
from pgplane.worker.answers import RESULT_BYTES, Answer, Completion, failure
from pgplane.worker.cache import TtlCache
from pgplane.worker.execution import Executor, UnknownOperationError

from ..conftest import ClientDatabase
from ..support.scripted import ScriptedConnection, a_claim


class Ask(Params):
    """What is asked."""

    origin: str = "EWR"
    size: int = 0


def in_scope(params: Ask, envelope: Envelope) -> None:
    if not envelope.sees(params.origin):
        raise HttpError(403, "OUT_OF_SCOPE", f"{params.origin} is not in your scope")


class Desk:
    """A surface whose handler counts its calls and answers when it is let."""

    def __init__(self, connection: session.Connection) -> None:
        self.calls: list[tuple[Ask, Envelope]] = []
        self.called = asyncio.Event()
        self.open = asyncio.Event()
        self.open.set()
        self.says: object = None
        self.surface = Surface("desk")
        self.cache: TtlCache[Answer] = TtlCache()
        self.ledger = ScriptedConnection(put_blob=[1], append_blob=[2])
        self.pool = Lender(connection)
        self.executor = Executor(self.surface, self.pool, self.cache, self.ledger)
        for name, ttl, per_actor in (("ask", 60, False), ("live", 0, False), ("own", 60, True)):
            self.surface.operation(name, ttl_seconds=ttl, per_actor=per_actor, gates=[in_scope])(
                self.handle
            )

    async def handle(self, params: Ask, envelope: Envelope, client: AsyncConnection[Any]) -> object:
        self.calls.append((params, envelope))
        self.called.set()
        await self.open.wait()
        if params.origin == "JFK":
            raise HttpError(404, "NONE", "there is none")
        if self.says is not None:
            return self.says
        return {"origin": params.origin, "padding": "x" * params.size}


class Lender:
    """Lends its one connection to anybody."""

    def __init__(self, connection: session.Connection) -> None:
        self._connection = connection
        self.lent = 0

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[session.Connection]:
        self.lent += 1
        yield self._connection


@pytest.fixture
async def desk(client_db: ClientDatabase) -> AsyncIterator[Desk]:
    connection = await session.connect(client_db.reader, application_name="test")
    async with connection:
        yield Desk(connection)


def claim(
    operation: str = "ask",
    *,
    origin: str = "EWR",
    key: str | None = "key",
    fresh: bool = False,
    envelope: str = '{"client": "acme", "actor": "ada", "staff": false, "scope": ["EWR", "JFK"]}',
    **params: object,
) -> Claim:
    return replace(
        a_claim(),
        queue="surface-desk",
        operation=operation,
        params=json.dumps({"origin": origin, **params}).encode(),
        envelope=envelope.encode(),
        dedupe_key=key,
        cache_key=key,
        fresh=fresh,
    )


def refusal(completion: Completion) -> dict[str, Any]:
    assert completion.answer.result is None
    assert completion.answer.error is not None
    payload: dict[str, Any] = json.loads(completion.answer.error)
    return payload


async def test_an_answer_is_cached_for_its_time_to_live(desk: Desk) -> None:
    first = await desk.executor.execute(claim())
    second = await desk.executor.execute(claim())
    assert first == Completion(Answer(result=b'{"origin":"EWR","padding":""}'))
    assert second == Completion(first.answer, "hit")
    assert len(desk.calls) == 1


async def test_without_a_time_to_live_every_job_is_computed(desk: Desk) -> None:
    for _ in range(2):
        assert (await desk.executor.execute(claim("live"))).cache is None
    assert len(desk.calls) == 2


async def test_without_a_cache_key_nothing_is_shared(desk: Desk) -> None:
    for _ in range(2):
        assert (await desk.executor.execute(claim(key=None))).cache is None
    assert len(desk.calls) == 2


async def test_a_fresh_job_skips_the_cache_and_renews_it(desk: Desk) -> None:
    await desk.executor.execute(claim())
    assert (await desk.executor.execute(claim(fresh=True))).cache is None
    assert (await desk.executor.execute(claim())).cache == "hit"
    assert len(desk.calls) == 2


async def test_past_the_cache_an_answer_is_computed_and_kept(desk: Desk) -> None:
    await desk.executor.execute(claim())
    anew = await desk.executor.execute(claim(), past_cache=True)
    assert anew.cache is None
    assert (await desk.executor.execute(claim())).answer is anew.answer
    assert len(desk.calls) == 2


async def test_an_answer_is_forgotten_where_it_is_still_the_one_that_is_kept(desk: Desk) -> None:
    first = await desk.executor.execute(claim())
    desk.executor.forget(claim(), first.answer)
    second = await desk.executor.execute(claim())
    assert second.cache is None
    desk.executor.forget(claim(), first.answer)
    desk.executor.forget(claim(key=None), second.answer)
    assert (await desk.executor.execute(claim())).cache == "hit"


async def test_a_gate_stands_before_the_cache_too(desk: Desk) -> None:
    await desk.executor.execute(claim())
    outsider = '{"client": "acme", "actor": "eve", "staff": false, "scope": ["LGA"]}'
    completion = await desk.executor.execute(claim(envelope=outsider))
    assert refusal(completion) == {
        "status": 403,
        "code": "OUT_OF_SCOPE",
        "message": "EWR is not in your scope",
    }
    assert completion.cache is None


class Permission:
    """A gate that looks into the client database."""

    def __init__(self, client_db: ClientDatabase) -> None:
        self._owner = client_db.owner
        self.asked = 0
        self._tell("create table permission (client text)")

    def give(self) -> None:
        self._tell("insert into permission values ('acme')")

    def take_away(self) -> None:
        self._tell("delete from permission")

    async def check(self, params: Ask, envelope: Envelope, client: AsyncConnection[Any]) -> None:
        self.asked += 1
        cursor = await client.execute("select from permission where client = %s", [envelope.client])
        if await cursor.fetchone() is None:
            raise HttpError(403, "NO_PERMISSION", "you may not see this any more")

    def _tell(self, statement: str) -> None:
        with psycopg.connect(self._owner) as owner:
            owner.execute(statement.encode())


async def test_a_permission_taken_away_between_two_calls_keeps_the_cached_answer_back(
    desk: Desk, client_db: ClientDatabase
) -> None:
    permission = Permission(client_db)
    permission.give()
    desk.surface.operation("guarded", ttl_seconds=60, gates=[permission.check])(desk.handle)
    assert (await desk.executor.execute(claim("guarded"))).cache is None
    assert (await desk.executor.execute(claim("guarded"))).cache == "hit"
    permission.take_away()
    completion = await desk.executor.execute(claim("guarded"))
    assert refusal(completion)["code"] == "NO_PERMISSION"
    assert completion.cache is None
    permission.give()
    assert (await desk.executor.execute(claim("guarded"))).cache == "hit"
    assert len(desk.calls) == 1
    assert permission.asked == 4


async def test_gates_run_in_their_order_and_those_that_read_share_a_connection(
    desk: Desk, client_db: ClientDatabase
) -> None:
    permission = Permission(client_db)
    desk.surface.operation("guarded", gates=[in_scope, permission.check, permission.check])(
        desk.handle
    )
    outsider = '{"client": "acme", "actor": "eve", "staff": false, "scope": ["LGA"]}'
    stranger = await desk.executor.execute(claim("guarded", envelope=outsider))
    assert refusal(stranger)["code"] == "OUT_OF_SCOPE"
    assert (permission.asked, desk.pool.lent) == (0, 0), "a gate before it has refused"
    permission.give()
    await desk.executor.execute(claim("guarded"))
    assert (permission.asked, desk.pool.lent) == (2, 2), "one for the gates, one for the handler"


async def test_a_gate_may_be_a_coroutine_without_a_connection(desk: Desk) -> None:
    async def closed(params: Ask, envelope: Envelope) -> None:
        await asyncio.sleep(0)
        raise HttpError(403, "CLOSED", "come back tomorrow")

    desk.surface.operation("closed", gates=[closed])(desk.handle)
    assert refusal(await desk.executor.execute(claim("closed")))["code"] == "CLOSED"
    assert desk.calls == []


async def test_a_refusal_is_not_cached(desk: Desk) -> None:
    for _ in range(2):
        assert refusal(await desk.executor.execute(claim(origin="JFK")))["status"] == 404
    assert len(desk.calls) == 2


async def test_wrong_params_are_answered_field_by_field(desk: Desk) -> None:
    payload = refusal(await desk.executor.execute(claim(origin=7, size="big", colour="red")))  # type: ignore[arg-type]
    assert (payload["status"], payload["code"]) == (422, "PARAMS")
    assert {error["field"] for error in payload["errors"]} == {"origin", "size", "colour"}
    assert desk.calls == []


async def test_of_very_many_wrong_fields_a_hundred_are_told(desk: Desk) -> None:
    colours = {f"colour{n}": "red" for n in range(1000)}
    payload = refusal(await desk.executor.execute(claim(**colours)))  # type: ignore[arg-type]
    assert len(payload["errors"]) == 100


@pytest.mark.parametrize("envelope", ["{}", '{"client": "acme"}', '{"scope": ["EWR"]}'])
async def test_an_envelope_without_client_or_scope_sees_nothing(desk: Desk, envelope: str) -> None:
    payload = refusal(await desk.executor.execute(claim(envelope=envelope)))
    assert (payload["status"], payload["code"]) == (403, "ENVELOPE")
    assert desk.calls == []


async def test_the_actor_is_seen_only_where_the_answer_depends_on_the_person(desk: Desk) -> None:
    await desk.executor.execute(claim("live"))
    await desk.executor.execute(claim("own"))
    assert [envelope.actor for _, envelope in desk.calls] == [None, "ada"]


@pytest.mark.parametrize(("operation", "tag"), [("ask", "c:acme"), ("own", "u:ada")])
async def test_an_invalidated_answer_is_computed_again(
    desk: Desk, operation: str, tag: str
) -> None:
    await desk.executor.execute(claim(operation))
    desk.cache.invalidate(tag)
    assert (await desk.executor.execute(claim(operation))).cache is None


async def test_the_surface_invalidates_what_its_workers_keep(desk: Desk) -> None:
    await desk.executor.execute(claim())
    desk.surface.invalidate("c:umbrella")
    assert (await desk.executor.execute(claim())).cache == "hit"
    desk.surface.invalidate("c:acme")
    assert (await desk.executor.execute(claim())).cache is None


async def test_an_answer_computed_before_an_invalidation_is_not_kept(desk: Desk) -> None:
    desk.open.clear()
    computing = asyncio.create_task(desk.executor.execute(claim()))
    await desk.called.wait()
    desk.cache.invalidate("c:acme")
    desk.open.set()
    await computing
    assert (await desk.executor.execute(claim())).cache is None


async def test_jobs_of_one_key_at_once_are_computed_once(desk: Desk) -> None:
    desk.open.clear()
    jobs = [asyncio.create_task(desk.executor.execute(claim("live"))) for _ in range(3)]
    await desk.called.wait()
    desk.open.set()
    completions = await asyncio.gather(*jobs)
    assert [completion.cache for completion in completions] == [None, "coalesced", "coalesced"]
    assert len(desk.calls) == 1


async def test_a_result_that_no_caller_could_read_as_a_blob_is_a_clear_answer(desk: Desk) -> None:
    payload = refusal(await desk.executor.execute(claim(key=None, size=RESULT_BYTES)))
    assert (payload["status"], payload["code"]) == (413, "RESULT_TOO_LARGE")
    assert payload["bytes"] > RESULT_BYTES


async def test_a_result_above_the_limit_becomes_a_blob(desk: Desk) -> None:
    asked = claim(size=RESULT_BYTES)
    answer = (await desk.executor.execute(asked)).answer
    (_, _, content_type, filename, begun), (*_, rest) = (
        *desk.ledger.called("put_blob"),
        *desk.ledger.called("append_blob"),
    )
    text = begun + rest
    assert json.loads(text) == {"origin": "EWR", "padding": "x" * RESULT_BYTES}
    assert (content_type, filename) == ("application/json", None)
    assert answer.result is not None
    assert json.loads(answer.result) == {
        "blobRef": {
            "blob": 1,
            "contentType": "application/json",
            "filename": None,
            "size": len(text),
            "whole": True,
        }
    }
    assert answer.origin is not None
    assert answer.origin.fence == (asked.job_id, asked.attempt)


MARK = b'{"blobRef": {"blob": 7, "contentType": "text/csv", "whole": true}}'
DEEP = b'{"blobRef": {"blob": 7, "whole": true, "more": ' + b"[" * 2000 + b"]" * 2000 + b"}}"


@pytest.mark.parametrize(
    "result",
    [
        MARK,
        b" {\n" + MARK[1:],
        MARK.replace(b"blobRef", rb"\u0062lobRef"),
        MARK.replace(b"blobRef", rb"blobRe\u0066"),
        MARK.replace(b"whole", rb"w\u0068ole"),
        b'{"blobRef": 1, ' + MARK[1:],
        DEEP,
    ],
)
async def test_a_result_that_looks_like_the_mark_of_a_large_one_is_put_away_like_one(
    desk: Desk, result: bytes
) -> None:
    desk.says = RawJson(result)
    answer = (await desk.executor.execute(claim())).answer
    assert answer.result is not None
    assert json.loads(answer.result)["blobRef"]["blob"] == 1
    ((*_, written),) = desk.ledger.called("put_blob")
    assert written == result


@pytest.mark.parametrize(
    "result",
    [
        b"{}",
        b'["blobRef"]',
        b'{"blobRef": {"blob": 7, "contentType": "text/csv"}}',
        b'{"blobRef": "whole"}',
        b'{"rows": [' + MARK + b"]}",
        b'{"a": 1, ' + MARK[1:],
        MARK[:-1] + b', "a": 1}',
        rb'{"\u0062": {"whole": true}}',
    ],
)
async def test_a_result_that_only_names_blobs_stays_in_its_job(desk: Desk, result: bytes) -> None:
    desk.says = RawJson(result)
    assert (await desk.executor.execute(claim())).answer.result == result
    assert desk.ledger.calls == []


async def test_a_result_that_looks_like_a_mark_stays_where_nobody_could_read_a_blob(
    desk: Desk,
) -> None:
    desk.says = RawJson(MARK)
    assert (await desk.executor.execute(claim(key=None))).answer.result == MARK


async def test_a_result_above_the_bound_of_memory_is_refused_with_advice(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "WHOLE_BYTES", RESULT_BYTES + 10)
    payload = refusal(await desk.executor.execute(claim(size=RESULT_BYTES)))
    assert (payload["status"], payload["code"]) == (413, "RESULT_TOO_LARGE")
    assert "Work.blob" in payload["message"]
    assert desk.ledger.calls == []


@pytest.mark.parametrize(("size", "kept"), [(RESULT_BYTES, True), (RESULT_BYTES + 1, False)])
async def test_the_limit_is_the_ledgers(queue_db: str, size: int, kept: bool) -> None:
    connection = await session.connect(queue_db, application_name="test")
    async with connection:
        await ledger.create_queue(connection, "surface-desk")
        await ledger.enqueue(connection, "surface-desk", "ask")
        (held,) = await ledger.claim_one(connection, "surface-desk", "w")
        result = f'"{"x" * (size - 2)}"'
        with nullcontext() if kept else pytest.raises(TooLarge):
            await ledger.complete_job(connection, held.job_id, held.attempt, result=result)


async def test_an_operation_that_is_not_here_is_a_failure(desk: Desk) -> None:
    with pytest.raises(UnknownOperationError, match="no handler for nothing v1"):
        await desk.executor.execute(claim("nothing"))


def test_a_failure_tells_no_secrets() -> None:
    error = RuntimeError("cannot reach postgresql://ada:hunter2@db/x, token: abc\nsecond line")
    assert json.loads(failure(error)) == {
        "code": "FAILED",
        "message": "cannot reach postgresql://***@db/x, token: ***",
        "type": "RuntimeError",
    }


def test_a_failure_that_cannot_be_printed_is_one_too() -> None:
    class MuteError(Exception):
        def __str__(self) -> str:
            raise ValueError("no words")

    assert json.loads(failure(MuteError()))["message"] == "MuteError"


def test_what_the_ledger_refused_a_handler_says_what_to_do() -> None:
    refusal = Invalid("not a file name", sqlstate="22023", detail="filename=a/b", hint="No slash.")
    assert json.loads(failure(refusal)) == {
        "code": "FAILED",
        "message": "not a file name: No slash.",
        "type": "Invalid",
    }


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt])
@pytest.mark.parametrize("where", ["handler", "gate"])
async def test_nothing_that_an_author_raises_ends_the_worker(
    desk: Desk, kind: type[BaseException], where: str
) -> None:
    def leave(*_: object) -> NoReturn:
        raise kind

    async def handler(params: Ask, envelope: Envelope, client: AsyncConnection[Any]) -> object:
        return leave()

    gates = [leave] if where == "gate" else []
    desk.surface.operation("leaving", gates=gates)(handler)
    with pytest.raises(RuntimeError, match=kind.__name__):
        await asyncio.create_task(desk.executor.execute(claim("leaving")))


def test_a_database_error_keeps_its_code_but_not_its_rows(queue_db: str) -> None:
    with psycopg.connect(queue_db) as connection:
        connection.execute("create temp table t (id int primary key)")
        connection.execute("insert into t values (42)")
        with pytest.raises(psycopg.errors.UniqueViolation) as raised:
            connection.execute("insert into t values (42)")
    assert json.loads(failure(raised.value)) == {
        "code": "SQL_23505",
        "message": 'duplicate key value violates unique constraint "t_pkey"',
        "type": "UniqueViolation",
    }
