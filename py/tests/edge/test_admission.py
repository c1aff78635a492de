"""Admission: what one caller may have open, and that it is nobody else's loss."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import httpx2
import pytest

from pgplane.edge.admission import Admission, Full, Quota
from pgplane.edge.edge import Edge
from pgplane.settings import Settings

from ..support.edges import ASK, QUESTION, Plane, ask, in_process, on_a_port, problem, until
from ..support.issuer import Issuer

BOB = ("acme", "bob@acme.example")
CLEO = ("acme", "cleo@acme.example")
MANY = "/api/flights/stream"
Opened = tuple[httpx2.AsyncClient, Edge]


@pytest.fixture
async def narrow(plane: Plane, settings: Settings) -> AsyncIterator[Opened]:
    """An edge for three streams, two of them one caller's."""
    few = settings.model_copy(update={"max_streams": 3, "streams_per_caller": 2})
    async with on_a_port(few) as opened:
        yield opened


@asynccontextmanager
async def opened(
    client: httpx2.AsyncClient, url: str, headers: dict[str, str]
) -> AsyncIterator[None]:
    """A stream that is open."""
    async with client.stream("GET", url, headers=headers) as response:
        assert response.status_code == 200
        chunks = response.aiter_bytes()  # it ends the stream when it is forgotten
        await anext(chunks)
        yield
        await chunks.aclose()


def test_a_quota_is_taken_and_given_back() -> None:
    quota = Quota("TOO_MANY_STREAMS", 3, 2)
    ann, also_ann, bob = quota.take("ann"), quota.take("ann"), quota.take("bob")
    for name, status in (("ann", 429), ("bob", 503), ("cleo", 503)):
        with pytest.raises(Full) as full:
            quota.take(name)
        assert (full.value.status, full.value.code) == (status, "TOO_MANY_STREAMS")
    assert len(quota) == 3
    ann.close()
    ann.close()
    assert len(quota) == 2
    quota.take("cleo").close()
    for taken in (also_ann, bob):
        taken.close()
    assert (len(quota), dict(quota._taken)) == (0, {})


def test_what_does_not_fit_as_a_whole_takes_nothing() -> None:
    settings = Settings(max_waits=10, waits_per_caller=6, max_streams=9, streams_per_caller=9)
    admission = Admission.from_settings(settings)
    ann = admission.stream("ann", 4)
    for name, jobs, status in (("ann", 3, 429), ("bob", 7, 429), ("ann", 2, None), ("bob", 5, 503)):
        if status is None:
            ann_too = admission.stream(name, jobs)
            continue
        with pytest.raises(Full) as full:
            admission.stream(name, jobs)
        assert (full.value.status, full.value.code) == (status, "TOO_MANY_WAITS")
    assert (len(admission.streams), len(admission.waits)) == (2, 6)
    for taken in (ann, ann_too):
        taken.close()
    assert (len(admission.streams), len(admission.waits)) == (0, 0)


async def test_one_callers_limit_is_not_anothers(narrow: Opened, issuer: Issuer) -> None:
    client, parts = narrow
    url = (await ask(client, issuer))["streamUrl"]
    path = url.partition("?")[0]
    many = f"{MANY}?jobs={path.split('/')[-2]}"
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(opened(client, url, {}))
        await stack.enter_async_context(opened(client, many, issuer.bearer()))
        for address, headers in ((url, {}), (path, issuer.bearer()), (many, issuer.bearer())):
            refused = await client.get(address, headers=headers)
            assert problem(refused, 429)["code"] == "TOO_MANY_STREAMS"
            assert int(refused.headers["Retry-After"]) > 0
        await stack.enter_async_context(opened(client, path, issuer.bearer(*BOB)))
        for address in (path, many):
            refused = await client.get(address, headers=issuer.bearer(*CLEO))
            assert problem(refused, 503)["code"] == "TOO_MANY_STREAMS"
            assert int(refused.headers["Retry-After"]) > 0
        polled = await client.get(path.removesuffix("/stream"), headers=issuer.bearer(*CLEO))
        assert polled.status_code == 200, "there is always the poll"
    await until(lambda: len(parts.admission.streams) == 0)
    async with opened(client, path, issuer.bearer()):
        assert len(parts.admission.streams) == 1


async def test_a_stream_of_many_jobs_counts_for_each_of_them(
    plane: Plane, settings: Settings, issuer: Issuer
) -> None:
    few = settings.model_copy(update={"max_waits": 5, "waits_per_caller": 3})
    async with on_a_port(few) as (client, parts):
        ids = [(await ask(client, issuer, params={"n": n}))["jobId"] for n in range(4)]
        refused = await client.get(f"{MANY}?jobs={','.join(ids)}", headers=issuer.bearer())
        assert problem(refused, 429)["code"] == "TOO_MANY_WAITS"
        async with opened(client, f"{MANY}?jobs={','.join(ids[:3])}", issuer.bearer()):
            for who, status in (((), 429), (BOB, 503)):
                many = f"{MANY}?jobs={','.join(ids[:3])}"
                refused = await client.get(many, headers=issuer.bearer(*who))
                assert problem(refused, status)["code"] == "TOO_MANY_WAITS"
            own = await waiting(client, issuer)
            assert own.status_code == 202
            async with opened(client, f"{MANY}?jobs={','.join(ids[:2])}", issuer.bearer(*BOB)):
                assert len(parts.admission.waits) == 5
        await until(lambda: len(parts.admission.waits) == 0)
        assert len(parts.admission.streams) == 0


async def test_what_cannot_begin_gives_its_place_back(
    edge: Opened, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, parts = edge
    asked = await ask(client, issuer)
    url, many = asked["streamUrl"], f"{MANY}?jobs={asked['jobId']}"

    def fail(*_args: object) -> None:
        raise MemoryError

    monkeypatch.setattr(type(parts.streams), "open", fail)
    for address, headers in ((url, {}), (many, issuer.bearer())):
        assert (await client.get(address, headers=headers)).status_code == 500
    assert (len(parts.admission.streams), len(parts.admission.waits), len(parts.pump)) == (0, 0, 0)


async def test_what_is_refused_takes_no_place(narrow: Opened, plane: Plane, issuer: Issuer) -> None:
    client, parts = narrow
    asked = await ask(client, issuer)
    plane.work("1")
    seen = issuer.bearer() | {"Last-Event-ID": f"{asked['jobId']}.end"}
    for _ in range(4):
        for address, headers, status in (
            (f"{ASK}/999/stream", issuer.bearer(), 404),
            (f"{MANY}?jobs=x", issuer.bearer(), 422),
            (f"/api/crews/stream?jobs={asked['jobId']}", issuer.bearer(), 404),
            (f"{asked['statusUrl']}/stream", seen, 204),
            (asked["streamUrl"], {}, 200),
            (f"{MANY}?jobs={asked['jobId']},999", issuer.bearer(), 200),
        ):
            response = await client.get(address, headers=headers)
            assert response.status_code == status
        assert (await client.head(asked["streamUrl"])).status_code == 200
        assert (await client.head(f"{MANY}?jobs=1", headers=issuer.bearer())).status_code == 200
    await until(lambda: len(parts.admission.streams) == 0)
    assert (len(parts.pump), len(parts.streams)) == (0, 0)


def waiting(client: httpx2.AsyncClient, issuer: Issuer, *who: Any) -> "asyncio.Task[Any]":
    """A question that would wait for half a minute."""
    headers = issuer.bearer(*who) | {"Prefer": "wait=30"}
    return asyncio.create_task(client.post(ASK, json=QUESTION, headers=headers))


async def test_a_question_that_cannot_wait_is_accepted_all_the_same(
    plane: Plane, settings: Settings, issuer: Issuer
) -> None:
    few = settings.model_copy(update={"max_waits": 2, "streams_per_caller": 1})
    async with in_process(few) as (client, parts):
        waits = [waiting(client, issuer)]
        await until(lambda: len(parts.pump) == 1)
        own = await waiting(client, issuer)
        waits.append(waiting(client, issuer, *BOB))
        await until(lambda: len(parts.pump) == 2)
        third = await waiting(client, issuer, *CLEO)
        for response in (own, third):
            assert response.status_code == 202
            assert "Preference-Applied" not in response.headers
            assert response.json()["streamUrl"]
        plane.work("1")
        for response in await asyncio.gather(*waits):
            assert (response.status_code, response.json()["result"]) == (200, 1)
            assert response.headers["Preference-Applied"] == "wait=30"
        assert len(parts.admission.waits) == 0
