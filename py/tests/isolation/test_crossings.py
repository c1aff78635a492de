"""Crossings: what is shared between callers is shared by those who may, by all of them, and by no
other: a live job, a computation under way, a kept answer, the bytes of a blob."""

import json
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import httpx2
import pytest

from pgplane.edge.edge import Edge

from ..conftest import ClientDatabase
from ..support.edges import ASK, Plane, until
from ..support.issuer import Issuer
from .desk import QUEUE, Desk, desk_of

OPERATIONS = ["board", "live", "mine", "export"]

Claims = dict[str, Any]


def claims(client: str, scope: list[str], actor: str = "x", staff: bool | None = None) -> Claims:
    """What a token says; the staff flag may be left out."""
    said = {} if staff is None else {"staff": staff}
    return {"client": client, "actor": actor, "scope": scope, **said}


CLIENTS = ("a", "a:b", "caf\u00e9", "cafe\u0301")
SCOPES = (
    ["b", "c"], ["c", "b"], ["c", "b", "c"],
    ["b"], ["c"], ["b,c"], ["b:c"], ['b","c'],
)  # fmt: skip
EVERYBODY = [
    *(claims(*who) for who in product(CLIENTS, SCOPES, ("x", "c:x"), (None, True))),
    *(claims(client, ["b", "c"], staff=False) for client in CLIENTS),
]
"""Names made to run into each other, and scopes in all spellings."""

SOME = [
    claims("a", ["b", "c"]),
    claims("a", ["c", "b", "b"], actor="y"),
    claims("a", ["b", "c"], staff=True),
    claims("a", ["b"]),
    claims("a", ["b:c"]),
    claims("a:b", ["c"]),
]
"""The first two differ by the person alone."""


def whose(asker: Claims, operation: str) -> tuple[object, ...]:
    """The oracle: two questions are one exactly where this is equal."""
    actor = asker["actor"] if operation == "mine" else None
    return asker["client"], frozenset(asker["scope"]), asker.get("staff", False), actor


@dataclass
class Asked:
    """A question that somebody has asked."""

    asker: Claims
    headers: dict[str, str]
    job_id: int
    url: str
    coalesced: bool
    said: dict[str, Any] = field(default_factory=dict)
    """The answer, once it is there."""
    cache: str | None = None


@dataclass
class Ground:
    """An edge, its database, and a desk that answers."""

    http: httpx2.AsyncClient
    plane: Plane
    issuer: Issuer
    desk: Desk

    async def ask(
        self, operation: str, params: str, asker: Claims, *, fresh: bool = False
    ) -> Asked:
        """Ask; the params are JSON text."""
        headers = self.issuer.bearer(**asker)
        body = f'{{"operation": "{operation}", "params": {params}}}'.encode()
        sent = headers | ({"Cache-Control": "no-cache"} if fresh else {})
        response = await self.http.post(ASK, content=body, headers=sent)
        assert response.status_code == 202, response.text
        told = response.json()
        return Asked(asker, headers, int(told["jobId"]), told["statusUrl"], told["coalesced"])

    async def ask_all(
        self, operation: str, askers: Iterable[Claims], *, fresh: bool = False
    ) -> list[Asked]:
        return [await self.ask(operation, "{}", asker, fresh=fresh) for asker in askers]

    async def hear(self, questions: list[Asked]) -> None:
        """What each of them is answered, in the words of the handler."""
        await until(lambda: not self.plane.look("select from plane.jobs where finished_at is null"))
        for asked in questions:
            job = (await self.http.get(asked.url, headers=asked.headers)).json()
            assert job["status"] == "done", job
            asked.said, asked.cache = job["result"], job["cache"]
            if "blobRef" in asked.said:
                url = f"{asked.url}/blob/{asked.said['blobRef']['blob']}"
                asked.said = (await self.http.get(url, headers=asked.headers)).json()


@pytest.fixture
async def ground(
    edge: tuple[httpx2.AsyncClient, Edge],
    plane: Plane,
    issuer: Issuer,
    as_worker: str,
    client_db: ClientDatabase,
) -> AsyncIterator[Ground]:
    async with desk_of(as_worker, client_db.reader) as desk:
        yield Ground(edge[0], plane, issuer, desk)


def groups(questions: Iterable[Asked], operation: str, what: str) -> set[frozenset[int]]:
    """Who is together, by their places in the list: by the oracle, by `job_id`, or by `call`."""
    found: dict[object, set[int]] = {}
    for place, asked in enumerate(questions):
        match what:
            case "oracle":
                key: object = whose(asked.asker, operation)
            case "call":
                key = asked.said["call"]
            case _:
                key = asked.job_id
        found.setdefault(key, set()).add(place)
    return {frozenset(places) for places in found.values()}


def assert_each_is_told_its_own(questions: Iterable[Asked], operation: str) -> None:
    """What the handler was given is what the caller's token says."""
    for asked in questions:
        said = {name: asked.said[name] for name in ("client", "scope", "staff", "actor")}
        client, scope, staff, actor = whose(asked.asker, operation)
        assert (frozenset(said.pop("scope")), said) == (
            scope,
            {"client": client, "staff": staff, "actor": actor},
        )


@pytest.mark.parametrize("operation", OPERATIONS)
async def test_jobs_and_kept_answers_are_shared_by_those_who_may_and_no_other(
    ground: Ground, operation: str
) -> None:
    first = await ground.ask_all(operation, EVERYBODY)
    together = groups(first, operation, "oracle")
    assert 1 < len(together) < len(first)
    assert groups(first, operation, "job_id") == together, "one job for all who ask the same"
    assert sum(not asked.coalesced for asked in first) == len(together), "and they are told so"
    async with ground.desk.working():
        await ground.hear(first)
        assert groups(first, operation, "call") == together, "one answer for each job"
        assert_each_is_told_its_own(first, operation)

        ground.plane.look("select plane.pause_queue(%s)", QUEUE)
        later = await ground.ask_all(operation, reversed(EVERYBODY))
        ground.plane.look("select plane.resume_queue(%s)", QUEUE)
        await ground.hear(later)
    later.reverse()
    assert groups(later, operation, "job_id") == together
    assert_each_is_told_its_own(later, operation)
    if operation == "live":
        assert {asked.cache for asked in later} == {None}
        assert groups(first + later, operation, "call") == together | {
            frozenset(place + len(first) for place in places) for places in together
        }
    else:
        assert {asked.cache for asked in later} == {"hit"}
        assert [asked.said for asked in later] == [asked.said for asked in first]


@pytest.mark.parametrize("operation", OPERATIONS)
async def test_a_computation_under_way_is_joined_by_those_who_may_and_no_other(
    ground: Ground, operation: str
) -> None:
    desk = ground.desk
    desk.open.clear()
    async with desk.working():
        first = await ground.ask_all(operation, SOME)
        jobs = len(groups(first, operation, "oracle"))
        await until(lambda: desk.seen == jobs)
        for job_id in {asked.job_id for asked in first}:
            freed = ground.plane.look("select plane.request_cancel(%s, 'test')", job_id)
            assert freed == [("cancelling",)], "its key is free, and its handler goes on"
        later = await ground.ask_all(operation, reversed(SOME))
        await until(lambda: desk.seen == 2 * jobs)
        desk.open.set()
        await ground.hear(first + later)
    assert {asked.job_id for asked in first}.isdisjoint(asked.job_id for asked in later)
    assert {asked.cache for asked in later} == {"coalesced"}
    assert desk.calls == jobs
    assert groups(first + later, operation, "call") == groups(first + later, operation, "oracle")
    assert_each_is_told_its_own(first + later, operation)


@pytest.mark.parametrize("operation", ["board", "mine"])
async def test_a_run_of_its_own_is_shared_by_those_who_may_and_no_other(
    ground: Ground, operation: str
) -> None:
    desk = ground.desk
    desk.open.clear()
    async with desk.working():
        stale = await ground.ask_all(operation, SOME)
        together = groups(stale, operation, "oracle")
        await until(lambda: desk.seen == len(together))
        fresh = await ground.ask_all(operation, SOME, fresh=True)
        later = await ground.ask_all(operation, reversed(SOME))
        await until(lambda: desk.seen == 2 * len(together))
        desk.open.set()
        await ground.hear(stale + fresh + later)
    later.reverse()
    for questions in (stale, fresh, later):
        assert groups(questions, operation, "job_id") == together
        assert groups(questions, operation, "call") == together
        assert_each_is_told_its_own(questions, operation)
    assert {asked.job_id for asked in stale}.isdisjoint(asked.job_id for asked in fresh)
    assert [asked.job_id for asked in later] == [asked.job_id for asked in fresh]
    assert desk.calls == 2 * len(together)


# Params ------------------------------------------------------------------------------------------

SPELLINGS = [
    ["{}"],
    ['{"v": 1}', '{ "v":1 }', '{"v": 2, "v": 1}', '{"\\u0076": 1}', '{"v": 1e0}'],
    ['{"v": 2}', '{"v": 1, "v": 2}'],
    ['{"v": 1.0}', '{"v": 10e-1}'],
    ['{"v": 1.00}'],
    ['{"v": "1"}', '{"v": "\\u0031"}'],
    ['{"v": "1.0"}'],
    ['{"v": true}'],
    ['{"v": "true"}'],
    ['{"v": null}'],
    ['{"v": "null"}'],
    ['{"v": ""}'],
    ['{"v": " "}'],
    ['{"v": 0}', '{"v": -0}'],
    ['{"v": 100}', '{"v": 1e2}'],
    ['{"v": 9007199254740992}'],
    ['{"v": 9007199254740993}'],
    ['{"v": "caf\u00e9"}', '{"v": "caf\\u00e9"}'],
    ['{"v": "cafe\u0301"}', '{"v": "cafe\\u0301"}'],
    ['{"v": "\U0001d11e"}', '{"v": "\\ud834\\udd1e"}'],
    ['{"v": [1, 2]}', '{"v": [1,2]}'],
    ['{"v": [2, 1]}'],
    ['{"v": [[1, 2]]}'],
    ['{"v": {"a": 1, "b": 2}}', '{"v": {"b": 2, "a": 1}}', '{"v": {"b": 3, "a": 1, "b": 2}}'],
    ['{"v": {"a": {"b": 2}}}'],
    ['{"v": "{\\"a\\": 1}"}'],
]
"""Params that are one question, line by line, and none of another line."""


@pytest.mark.parametrize("operation", ["board", "export"])
async def test_params_are_one_question_by_what_they_say(ground: Ground, operation: str) -> None:
    ann = SOME[0]
    texts = [(line, text) for line, texts in enumerate(SPELLINGS) for text in texts]
    first = [await ground.ask(operation, text, ann) for _, text in texts]
    async with ground.desk.working():
        await ground.hear(first)
        later = [await ground.ask(operation, text, ann) for _, text in texts]
        await ground.hear(later)
    for questions in (first, later):
        jobs: dict[int, set[int]] = {}
        for (line, text), asked in zip(texts, questions, strict=True):
            jobs.setdefault(line, set()).add(asked.said["call"])
            meant = json.loads(text).get("v", "unsaid")
            said = asked.said["v"]
            assert (said, isinstance(said, bool)) == (meant, isinstance(meant, bool)), text
        assert all(len(calls) == 1 for calls in jobs.values())
        assert len(set.union(*jobs.values())) == len(SPELLINGS)
    assert {asked.cache for asked in later} == {"hit"}
    assert [asked.said for asked in later] == [asked.said for asked in first]
