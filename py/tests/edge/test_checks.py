"""The checker: what it is asked for may take for ever, and holds up nobody."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import structlog

from pgplane.edge.checking import checks as module
from pgplane.edge.checking.checks import (
    MAX_PARAMS,
    MAX_SCHEMA,
    Checks,
    Schema,
    TooDearError,
    UndecidedError,
)
from pgplane.edge.checking.wording import Wrong
from pgplane.edge.edge import Edge

from ..support.edges import ASK, Plane, in_process, problem, until
from ..support.issuer import Issuer

WANTS_TEXT: dict[str, Any] = {"properties": {"a": {"type": "string"}}}
NO_TEXT = [Wrong("a", "Input should be a valid string")]
NUMBER = '{"a": 1}'
LEVELS = 60
ENDLESS: dict[str, Any] = {
    "$ref": "#/$defs/0",
    "$defs": {
        **{str(n): {"anyOf": [{"$ref": f"#/$defs/{n + 1}"}] * 2} for n in range(LEVELS)},
        str(LEVELS): {"type": "string"},
    },
}
"""A choice of choices of choices: the last of them is looked at 2^60 times."""
TREE = {
    "$ref": "#/$defs/tree",
    "$defs": {
        "leaf": {"properties": {"left": {"$ref": "#/$defs/tree"}}, "required": ["leaf"]},
        "node": {"properties": {"left": {"$ref": "#/$defs/tree"}}, "required": ["node"]},
        "tree": {"anyOf": [{"$ref": "#/$defs/leaf"}, {"$ref": "#/$defs/node"}]},
    },
}
"""As an honest worker may have it, and dear for params that are made to be so."""
DEEP = '{"left": ' * 50 + "{}" + "}" * 50
PATTERN = {"properties": {"a": {"items": {"pattern": r"^((a|a)*b\2|a+c)$"}}}}
STRINGS = json.dumps({"a": ["a" * 14 + "c"] * 10_000})
"""Each of them fits, after a detour that is just not too long."""


@pytest.fixture
async def checks() -> AsyncIterator[Checks]:
    opened = Checks()
    yield opened
    await opened.close()


def text(schema: object) -> bytes:
    return json.dumps(schema).encode()


async def test_one_process_checks_by_all_schemas(checks: Checks) -> None:
    assert (await checks.verdict(text(WANTS_TEXT), NUMBER)).wrong == NO_TEXT
    first = checks._process
    for schema, params, wrong in (
        (WANTS_TEXT, '{"a": "b"}', []),
        ({}, NUMBER, []),
        (WANTS_TEXT, NUMBER, NO_TEXT),
    ):
        assert await checks.verdict(text(schema), params) == (None, wrong)
    assert checks._process is first


async def test_each_is_answered_for_its_own_question(checks: Checks) -> None:
    schema = text({"properties": {}, "additionalProperties": False})
    names = [f"n{number}" for number in range(50)]
    verdicts = await asyncio.gather(
        *(checks.verdict(schema, json.dumps({name: 1})) for name in names)
    )
    assert [one.wrong[0].field for one in verdicts] == names


@pytest.mark.parametrize(
    ("schema", "params"),
    [(ENDLESS, "{}"), (TREE, DEEP), (PATTERN, STRINGS)],
    ids=["schema", "params", "pattern"],
)
async def test_what_would_take_for_ever_ends_the_checker_and_not_the_edge(
    checks: Checks, schema: object, params: str
) -> None:
    """The loop goes on meanwhile, since it only waits for a pipe."""
    turns = 0

    async def go_round() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    assert (await checks.verdict(text(WANTS_TEXT), NUMBER)).wrong == NO_TEXT
    other = asyncio.create_task(go_round())
    with pytest.raises(TooDearError):
        await checks.verdict(text(schema), params)
    other.cancel()
    assert turns > 100
    assert (await checks.verdict(text(WANTS_TEXT), NUMBER)).wrong == NO_TEXT


async def test_a_schema_that_was_too_dear_once_is_not_used_again(checks: Checks) -> None:
    schema = Schema(text(ENDLESS), checks, operation="ask")
    with structlog.testing.capture_logs() as logged:
        for _ in range(3):
            assert await schema.faults(NUMBER) == []
        assert await schema.document() is None
    assert checks._process is None, "it was asked once, and died of it"
    (entry,) = logged
    assert (entry["event"], entry["operation"]) == ("manifest.unusable_schema", "ask")


async def test_params_that_were_too_dear_do_not_take_the_description_away(checks: Checks) -> None:
    schema = Schema(text(TREE), checks)
    assert await schema.document() == TREE
    assert await schema.faults(DEEP) == []
    assert not schema._usable
    assert await schema.document() == TREE


async def test_what_is_too_large_is_not_even_asked(checks: Checks) -> None:
    with structlog.testing.capture_logs() as logged:
        large = Schema(text(WANTS_TEXT | {"title": "x" * MAX_SCHEMA}), checks)
    assert [entry["event"] for entry in logged] == ["manifest.unusable_schema"]
    assert await large.faults(NUMBER) == []
    schema = Schema(text(WANTS_TEXT), checks)
    assert await schema.faults(json.dumps({"a": 1, "b": "x" * MAX_PARAMS})) == []
    assert checks._process is None
    most = json.dumps({"a": 1, "b": "x" * (MAX_PARAMS - 20)})
    assert await schema.faults(most) == NO_TEXT


async def test_a_checker_that_is_killed_says_nothing_of_the_schema(checks: Checks) -> None:
    schema = Schema(text(WANTS_TEXT), checks)
    assert await schema.faults(NUMBER) == NO_TEXT
    assert checks._process is not None
    os.kill(checks._process.pid, signal.SIGKILL)
    assert await schema.faults(NUMBER) in ([], NO_TEXT)
    assert await schema.faults(NUMBER) == NO_TEXT


async def test_a_checker_that_gets_no_processor_says_nothing_of_the_schema(
    checks: Checks, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = Schema(text(WANTS_TEXT), checks)
    assert await schema.faults(NUMBER) == NO_TEXT
    assert checks._process is not None
    os.kill(checks._process.pid, signal.SIGSTOP)
    with monkeypatch.context() as patched:
        patched.setattr(module, "ANSWER_SECONDS", 0.01)
        assert await schema.faults(NUMBER) == []
    assert await schema.faults(NUMBER) == NO_TEXT


async def test_a_schema_is_not_blamed_for_what_the_checker_had_before(checks: Checks) -> None:
    schema = text(WANTS_TEXT)
    assert (await checks.verdict(schema, NUMBER)).wrong == NO_TEXT
    process = checks._process
    assert process is not None
    assert process.stdin is not None
    process.stdin.write(b"it dies of this\n")
    assert (await checks.verdict(schema, NUMBER)).wrong == NO_TEXT
    assert process.returncode == 1


async def test_without_a_checker_nothing_is_refused(
    checks: Checks, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def none() -> None:
        raise BlockingIOError

    with monkeypatch.context() as crowded:
        crowded.setattr(module, "_started", none)
        assert await Schema(text(WANTS_TEXT), checks).faults(NUMBER) == []
    assert await Schema(text(WANTS_TEXT), checks).faults(NUMBER) == NO_TEXT


async def test_who_waits_too_long_for_a_turn_is_not_checked(
    checks: Checks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "WAIT_SECONDS", 0.01)
    async with checks._turn:
        with pytest.raises(UndecidedError):
            await checks.verdict(text(WANTS_TEXT), NUMBER)
    assert await Schema(text(WANTS_TEXT), checks).faults(NUMBER) in ([], NO_TEXT)


async def test_who_goes_away_leaves_no_answer_to_the_next(checks: Checks) -> None:
    assert (await checks.verdict(text(WANTS_TEXT), NUMBER)).wrong == NO_TEXT
    gone = asyncio.create_task(checks.verdict(text(ENDLESS), NUMBER))
    await until(checks._turn.locked)
    gone.cancel()
    await asyncio.gather(gone, return_exceptions=True)
    assert (await checks.verdict(text(WANTS_TEXT), NUMBER)).wrong == NO_TEXT


@pytest.mark.parametrize("key", ["x" * 10_000, "\\ud800"])
async def test_what_is_told_can_be_told(checks: Checks, key: str) -> None:
    ((field, message),) = (await checks.verdict(b"{}", f'{{"{key}": 1e999}}')).wrong
    assert field.encode()
    assert len(field) <= 2000
    assert message == "Input should be a finite number"


async def test_the_checker_knows_no_secret(checks: Checks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANE_QUEUE_URL", "postgresql://ann:secret@db/queue")
    await checks.verdict(b"{}", "{}")
    assert checks._process is not None
    environ = Path(f"/proc/{checks._process.pid}/environ")
    assert b"secret" not in await asyncio.to_thread(environ.read_bytes)


async def test_an_edge_ends_its_checker(plane: Plane, settings: Any, issuer: Issuer) -> None:
    async with in_process(settings) as (client, parts):
        question = {"operation": "airlines", "params": {}}
        await client.post(ASK, json=question, headers=issuer.bearer())
        process = parts.manifests._checks._process
        assert process is not None
    assert process.returncode is not None


async def test_by_the_address_an_endless_check_is_the_workers(
    edge: tuple[httpx2.AsyncClient, Edge], plane: Plane, issuer: Issuer
) -> None:
    client, _ = edge
    manifest = [
        {"name": "endless", "version": 1, "params": ENDLESS},
        {"name": "good", "version": 1, "params": WANTS_TEXT},
    ]
    plane.look("select plane.register_manifest('surface-flights', %s)", json.dumps(manifest))
    for operation, status in (("endless", 202), ("good", 422), ("endless", 202)):
        question = {"operation": operation, "params": {"a": 1}}
        response = await client.post(ASK, json=question, headers=issuer.bearer())
        assert response.status_code == status
    described = await client.get("/api/flights/openapi.json", headers=issuer.bearer())
    assert described.json()["components"]["schemas"]["endless.v1.params"] == {"type": "object"}
    refused = {"operation": "good", "params": {"a": 1}}
    assert problem(await client.post(ASK, json=refused, headers=issuer.bearer()), 422)
