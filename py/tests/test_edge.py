"""The edge's routes, but for streams: what they answer, and what they refuse."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest

from pgplane.edge import database
from pgplane.edge.routes import Edge
from pgplane.settings import Settings

from .edges import Plane, ask, in_process, ready, until
from .issuer import Issuer
from .postgres import Server

ASK = "/api/flights/q"
QUESTION = {"operation": "airlines", "params": {}}


@pytest.fixture(scope="module")
def issuer() -> Issuer:
    return Issuer()


@pytest.fixture
def plane(queue_db: str) -> Iterator[Plane]:
    opened = Plane(queue_db)
    opened.surface()
    yield opened
    opened.close()


@pytest.fixture
def settings(issuer: Issuer, as_edge: str) -> Settings:
    return issuer.settings(queue_url=as_edge)


@pytest.fixture
async def edge(plane: Plane, settings: Settings) -> AsyncIterator[tuple[httpx2.AsyncClient, Edge]]:
    async with in_process(settings) as opened:
        yield opened


@pytest.fixture
def client(edge: tuple[httpx2.AsyncClient, Edge]) -> httpx2.AsyncClient:
    return edge[0]


def problem(response: httpx2.Response, status: int) -> dict[str, Any]:
    """The problem document of a refusal."""
    assert response.status_code == status, response.text
    assert response.headers["Content-Type"] == "application/problem+json"
    assert response.headers["X-Request-Id"]
    document: dict[str, Any] = response.json()
    assert document["status"] == status
    assert document["type"] == "about:blank"
    assert document["title"]
    assert document["code"]
    assert document["detail"]
    return document


async def test_a_question_is_accepted(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer
) -> None:
    token = issuer.token(scope=["LGA", "EWR"], staff=False)
    response = await client.post(
        ASK, json=QUESTION, headers={"Authorization": f"Bearer {token}", "Host": "edge"}
    )
    assert response.status_code == 202
    body = response.json()
    ((job_id, envelope),) = plane.look("select id, envelope from plane.jobs")
    assert body["jobId"] == str(job_id)
    assert body["coalesced"] is False
    assert body["statusUrl"] == response.headers["Location"] == f"/api/flights/q/{job_id}"
    assert body["streamUrl"].startswith(f"/api/flights/q/{job_id}/stream?ticket=")
    assert token not in body["streamUrl"]
    assert response.headers["Retry-After"] == "1"
    assert response.headers["Cache-Status"] == "pgplane; fwd=miss; collapsed=?0"
    assert response.headers["Cache-Control"] == "no-store"
    assert envelope == {
        "client": "acme",
        "actor": "ann@acme.example",
        "staff": False,
        "scope": ["EWR", "LGA"],
    }


async def test_the_same_question_joins_the_first(
    client: httpx2.AsyncClient, issuer: Issuer
) -> None:
    first = await ask(client, issuer, params={"a": 1, "b": 2})
    response = await client.post(
        ASK,
        content='{"params":{"b":2, "a":1},"operation":"airlines"}',
        headers=issuer.bearer("acme", "bob@acme.example", ["JFK", "EWR"]),
    )
    assert (response.json()["jobId"], response.json()["coalesced"]) == (first["jobId"], True)
    assert response.headers["Cache-Status"] == "pgplane; fwd=miss; collapsed"


@pytest.mark.parametrize(
    "other",
    [
        {"scope": ["JFK"]},
        {"client": "umbrella"},
        {"staff": True},
    ],
)
async def test_another_scope_is_another_job_and_cannot_see_this_one(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer, other: dict[str, Any]
) -> None:
    mine = await ask(client, issuer)
    theirs = await client.post(ASK, json=QUESTION, headers=issuer.bearer(**other))
    assert theirs.json()["jobId"] != mine["jobId"]
    assert plane.jobs() == 2
    for address in (mine["statusUrl"], f"{mine['statusUrl']}/stream"):
        refused = await client.get(address, headers=issuer.bearer(**other))
        assert problem(refused, 404)["code"] == "NO_SUCH_JOB"
    assert (await client.get(mine["statusUrl"], headers=issuer.bearer())).status_code == 200


async def test_a_per_actor_job_is_seen_by_its_actor_alone(
    client: httpx2.AsyncClient, issuer: Issuer
) -> None:
    mine = await ask(client, issuer, "mine")
    bob = issuer.bearer("acme", "bob@acme.example")
    problem(await client.get(mine["statusUrl"], headers=bob), 404)
    problem(await client.get(f"{mine['statusUrl']}/stream", headers=bob), 404)
    assert (await client.get(mine["statusUrl"], headers=issuer.bearer())).status_code == 200
    his = await client.post(ASK, json={"operation": "mine"}, headers=bob)
    assert his.json()["jobId"] != mine["jobId"]


async def test_another_surface_does_not_show_this_ones_job(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer
) -> None:
    plane.surface("crews")
    mine = await ask(client, issuer)
    elsewhere = mine["statusUrl"].replace("flights", "crews")
    problem(await client.get(elsewhere, headers=issuer.bearer()), 404)
    ticket = mine["streamUrl"].replace("flights", "crews")
    assert problem(await client.get(ticket), 401)["code"] == "TICKET_INVALID"


async def test_params_reach_the_database_digit_for_digit(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer
) -> None:
    numbers = {
        '"big": 12345678901234567890123',
        '"price": 1.10',
        '"tiny": 0.1000000000000000000001',
    }
    body = f'{{"operation": "airlines", "params": {{{", ".join(numbers)}}}}}'
    await client.post(ASK, content=body, headers=issuer.bearer())
    ((kept,),) = plane.look("select params::text from plane.jobs")
    assert set(kept.strip("{}").split(", ")) == numbers


async def test_no_cache_asks_for_a_fresh_run(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer
) -> None:
    headers = {**issuer.bearer(), "Cache-Control": "max-age=0, No-Cache"}
    response = await client.post(ASK, json=QUESTION, headers=headers)
    assert response.headers["Cache-Status"] == "pgplane; fwd=request; collapsed=?0"
    assert plane.look("select fresh from plane.claim_one('surface-flights', 'w')") == [(True,)]


async def test_prefer_wait_answers_with_the_result(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer
) -> None:
    headers = {**issuer.bearer(), "Prefer": "respond-async, wait=20"}
    asked = asyncio.create_task(client.post(ASK, json=QUESTION, headers=headers))
    await until(lambda: plane.look("select 1 from plane.waiter") != [])
    plane.work('{"rows":[12345678901234567890, 1.10]}')
    response = await asked
    assert response.status_code == 200
    assert '"result":{"rows":[12345678901234567890, 1.10]}' in response.text
    assert response.json()["status"] == "done"
    assert response.headers["Preference-Applied"] == "wait=20"
    assert response.headers["Cache-Status"] == "pgplane; fwd=miss; collapsed=?0"
    assert response.headers["Location"]


async def test_prefer_wait_falls_back_to_202(
    edge: tuple[httpx2.AsyncClient, Edge], issuer: Issuer
) -> None:
    client, parts = edge
    headers = {**issuer.bearer(), "Prefer": "wait=0"}
    response = await client.post(ASK, json=QUESTION, headers=headers)
    assert response.status_code == 202
    assert response.headers["Preference-Applied"] == "wait=0"
    assert len(parts.pump) == 0


async def test_a_poll_tells_the_whole_life_of_a_job(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer
) -> None:
    async def poll() -> dict[str, Any]:
        response = await client.get(asked["statusUrl"], headers=issuer.bearer())
        assert response.status_code == 200
        assert response.headers["Cache-Control"] == "no-store"
        document: dict[str, Any] = response.json()
        return document

    asked = await ask(client, issuer)
    pending = await poll()
    assert pending["jobId"] == asked["jobId"]
    assert pending["status"] == "pending"
    assert pending["times"]["claimed"] is None
    assert not {"result", "error"} & set(pending)
    job = plane.claim()
    assert (await poll())["status"] == "in_progress"
    plane.complete(job, '{"n": 1}')
    done = await poll()
    assert (done["status"], done["result"], done["cache"]) == ("done", {"n": 1}, None)
    created, claimed, finished = (done["times"][t] for t in ("created", "claimed", "finished"))
    assert created < claimed < finished


async def test_a_refusal_is_an_answer(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer
) -> None:
    asked = await ask(client, issuer)
    refusal = {"status": 403, "code": "NOT_YOURS", "message": "not your airport"}
    plane.complete(plane.claim(), error=json.dumps(refusal))
    document = (await client.get(asked["statusUrl"], headers=issuer.bearer())).json()
    assert document["status"] == "done"
    assert document["error"] == {
        "type": "about:blank",
        "title": "Forbidden",
        "status": 403,
        "code": "NOT_YOURS",
        "detail": "not your airport",
        "jobId": asked["jobId"],
    }


async def test_poison_tells_nothing_of_the_inside(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer
) -> None:
    plane.surface(max_dequeues=1)
    asked = await ask(client, issuer)
    secret = '{"message": "password authentication failed for user"}'
    plane.look("select plane.fail_job(%s, %s, %s::json)", *plane.claim(), secret)
    response = await client.get(asked["statusUrl"], headers=issuer.bearer())
    assert response.json()["status"] == "poison"
    assert response.json()["error"]["code"] == "POISON"
    assert "password" not in response.text


@pytest.mark.parametrize(
    ("surface", "body", "status", "detail"),
    [
        ("nowhere", b'{"operation":"airlines"}', 404, "no such queue"),
        ("No Where", b'{"operation":"airlines"}', 404, "no such queue"),
        ("x" * 60, b'{"operation":"airlines"}', 404, "no such queue"),
        ("fli%00ghts", b'{"operation":"airlines"}', 422, "NUL"),
        ("flights", b'{"operation":"trains"}', 404, "no such operation"),
        ("flights", b'{"operation":"airlines","version":9}', 404, "no such operation"),
        ("flights", b'{"operation":"airlines","params":[]}', 422, "params must be a JSON object"),
        ("flights", b'{"operation":"airlines","params":{"a":"\\u0000"}}', 422, "NUL"),
        ("flights", b'{"operation":"airlines","params":{"a\\u0000":1}}', 422, "NUL"),
        ("flights", b'{"operation":"airlines","params":{"a":"\0"}}', 400, "not JSON"),
        ("flights", b'{"operation":"air lines"}', 404, "no such operation"),
        ("flights", b'{"operation":"%s"}' % (b"x" * 300), 422, "1 to 200 characters"),
        ("flights", b'{"operation":"air\\u0000lines"}', 422, "NUL"),
        ("flights", b'{"operation":"air\\ud800lines"}', 422, "surrogate"),
        ("flights", b'{"operation":"airlines","params":{"a":"\\ud800"}}', 422, "surrogate"),
        ("flights", b'{"operation":"airlines","params":{"a":1e999999}}', 422, "numeric"),
        ("flights", b"[1]", 422, "must be a JSON object"),
        ("flights", b"", 400, "not JSON"),
        ("flights", b'{"operation":"airlines","params":{"a":"%s"}}' % (b"x" * 270_000), 413, "256"),
        ("flights", b'{"operation":"airlines","params":{"a":"%s"}}' % (b"x" * 10**7), 413, "bytes"),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, str | bytes) else None,
)
async def test_bad_input_is_refused_and_changes_nothing(
    client: httpx2.AsyncClient,
    plane: Plane,
    issuer: Issuer,
    surface: str,
    body: bytes,
    status: int,
    detail: str,
) -> None:
    response = await client.post(f"/api/{surface}/q", content=body, headers=issuer.bearer())
    assert detail in problem(response, status)["detail"]
    assert plane.jobs() == 0


async def test_a_huge_body_is_not_read(
    edge: tuple[httpx2.AsyncClient, Edge], settings: Settings, issuer: Issuer
) -> None:
    client, _ = edge
    read = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal read
        yield b'{"operation":"'
        while True:
            read += 65536
            yield b"x" * 65536

    announced = {**issuer.bearer(), "Content-Length": str(settings.body_bytes + 1)}
    response = await client.post(ASK, content=endless(), headers=announced)
    assert problem(response, 413)["code"] == "TOO_LARGE"
    assert read == 0
    response = await client.post(ASK, content=endless(), headers=issuer.bearer())
    assert problem(response, 413)["code"] == "TOO_LARGE"
    assert read <= settings.body_bytes + 65536


async def test_only_json_is_read(client: httpx2.AsyncClient, issuer: Issuer) -> None:
    headers = {**issuer.bearer(), "Content-Type": "application/x-www-form-urlencoded"}
    problem(await client.post(ASK, content="{}", headers=headers), 415)
    headers["Content-Type"] = "application/json; charset=utf-8"
    content = json.dumps(QUESTION)
    assert (await client.post(ASK, content=content, headers=headers)).status_code == 202


async def test_without_a_good_token_nothing_is_served(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer
) -> None:
    asked = await ask(client, issuer)
    token = issuer.token()
    for headers in ({}, {"Authorization": "Bearer e30.e30."}, issuer.bearer(exp=1)):
        for method, address in (
            ("POST", ASK),
            ("POST", f"{ASK}?token={token}&access_token={token}"),
            ("GET", asked["statusUrl"]),
            ("GET", f"{asked['statusUrl']}/stream"),
            ("GET", f"{asked['statusUrl']}/stream?ticket={token}"),
        ):
            response = await client.request(method, address, headers=headers)
            assert problem(response, 401)
            assert response.headers["WWW-Authenticate"].startswith("Bearer")
    assert plane.jobs() == 1


async def test_a_ticket_opens_its_stream_only(client: httpx2.AsyncClient, issuer: Issuer) -> None:
    asked = await ask(client, issuer)
    ticket = asked["streamUrl"].partition("?")[2]
    problem(await client.get(f"{asked['statusUrl']}?{ticket}"), 401)
    problem(await client.post(f"{ASK}?{ticket}", json=QUESTION), 401)
    assert (await client.head(asked["streamUrl"])).status_code == 200


async def test_surfaces_of_the_token_limit_it(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer
) -> None:
    refused = await client.post(ASK, json=QUESTION, headers=issuer.bearer(surfaces=["crews"]))
    assert problem(refused, 403)["code"] == "SURFACE_FORBIDDEN"
    assert plane.jobs() == 0


async def test_no_manifest_yet_is_try_again(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer
) -> None:
    plane.look("select plane.create_queue('surface-young')")
    response = await client.post("/api/young/q", json=QUESTION, headers=issuer.bearer())
    assert "no manifest" in problem(response, 503)["detail"]
    assert int(response.headers["Retry-After"]) > 0


async def test_a_full_queue_is_try_later(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer
) -> None:
    plane.surface(max_depth=1)
    await ask(client, issuer, params={"n": 1})
    question = {**QUESTION, "params": {"n": 2}}
    response = await client.post(ASK, json=question, headers=issuer.bearer())
    assert problem(response, 429)["code"] == "QUEUE_FULL"
    assert int(response.headers["Retry-After"]) > 0


async def test_the_tier_names_the_queue(plane: Plane, settings: Settings, issuer: Issuer) -> None:
    plane.surface("flights-dev")
    async with in_process(settings.model_copy(update={"surfaces_tier": "-dev"})) as (client, _):
        await ask(client, issuer)
    assert plane.look("select queue from plane.jobs") == [("surface-flights-dev",)]


@pytest.mark.parametrize("url", [None, "postgresql://nobody@127.0.0.1:1/none"])
async def test_without_a_queue_database_calls_are_503(
    issuer: Issuer, url: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "CHECKOUT_SECONDS", 0.3)
    async with in_process(issuer.settings(queue_url=url)) as (client, _):
        for response in (
            await client.post(ASK, json=QUESTION, headers=issuer.bearer()),
            await client.get("/api/flights/q/1", headers=issuer.bearer()),
            await client.get("/api/flights/q/1/stream", headers=issuer.bearer()),
        ):
            assert problem(response, 503)["code"] == "UNAVAILABLE"
            assert int(response.headers["Retry-After"]) > 0
            assert "127.0.0.1" not in response.text
        problem(await client.post(ASK, json=QUESTION), 401)
        reasons = problem(await client.get("/readyz"), 503)["reasons"]
        assert any("queue database" in reason for reason in reasons)
        assert (await client.get("/livez")).json() == {"status": "live"}


async def test_a_listener_that_hears_nothing_is_not_ready(plane: Plane, settings: Settings) -> None:
    deaf = settings.model_copy(update={"listen_url": "postgresql://nobody@127.0.0.1:1/none"})
    async with in_process(deaf) as (client, _):
        (reason,) = problem(await client.get("/readyz"), 503)["reasons"]
        assert reason.startswith("listener: ")


async def test_a_ready_edge_says_so(client: httpx2.AsyncClient) -> None:
    await ready(client)
    assert (await client.get("/readyz")).json() == {"status": "ready"}


async def test_lost_connections_cost_nobody_an_error(
    edge: tuple[httpx2.AsyncClient, Edge], plane: Plane, issuer: Issuer
) -> None:
    client, _ = edge
    headers = issuer.bearer()
    body = [{"operation": "airlines", "params": {"n": n}} for n in range(8)]
    await asyncio.gather(*(client.post(ASK, json=question, headers=headers) for question in body))
    plane.look(
        "select pg_terminate_backend(pid, 5000) from pg_stat_activity"
        " where datname = current_database() and application_name = 'pgplane edge'"
    )
    for question in body:
        assert (await client.post(ASK, json=question, headers=headers)).status_code == 202
    assert plane.jobs() == 8


async def test_an_edge_comes_back_with_its_database(
    plane: Plane,
    settings: Settings,
    issuer: Issuer,
    server: Server,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(database, "CHECKOUT_SECONDS", 0.3)
    ((name,),) = plane.look("select current_database()")
    admin = psycopg.connect(server.database_url("postgres"), autocommit=True)
    with admin:
        async with in_process(settings) as (client, _):

            async def asks() -> httpx2.Response:
                return await client.post(ASK, json=QUESTION, headers=issuer.bearer())

            async def is_back() -> bool:
                return (await asks()).status_code == 202

            await ready(client)
            admin.execute(f"alter database {name} allow_connections false")
            plane.look(
                "select pg_terminate_backend(pid, 5000) from pg_stat_activity"
                " where datname = current_database() and application_name like %s",
                "pgplane edge%",
            )
            for _ in range(3):
                problem(await asks(), 503)
            problem(await client.get("/readyz"), 503)
            admin.execute(f"alter database {name} allow_connections true")
            await until(is_back)
            await ready(client)


async def test_waiting_for_a_strangers_transaction_ends_in_503(
    client: httpx2.AsyncClient,
    plane: Plane,
    issuer: Issuer,
    queue_db: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(database, "CALL_SECONDS", 0.3)
    await ask(client, issuer, params={"warm": "up"})
    with psycopg.connect(queue_db) as stranger:
        ((envelope,),) = plane.look("select envelope::text from plane.jobs")
        stranger.execute(
            "select plane.submit_request('surface-flights', 'airlines', '{}', %s)", [envelope]
        )
        response = await client.post(ASK, json=QUESTION, headers=issuer.bearer())
        assert problem(response, 503)["code"] == "BUSY"
        assert int(response.headers["Retry-After"]) > 0
        stranger.rollback()
    assert (await client.post(ASK, json=QUESTION, headers=issuer.bearer())).status_code == 202


async def test_the_router_refuses_with_problems_too(
    client: httpx2.AsyncClient, issuer: Issuer
) -> None:
    assert problem(await client.get("/nothing"), 404)["code"] == "NOT_FOUND"
    assert problem(await client.get("/api/flights/q/seven"), 404)["code"] == "NOT_FOUND"
    wrong = await client.delete(ASK)
    assert problem(wrong, 405)["code"] == "METHOD_NOT_ALLOWED"
    assert wrong.headers["Allow"] == "POST"
    beyond = await client.get(f"/api/flights/q/{2**63}", headers=issuer.bearer())
    assert problem(beyond, 404)["code"] == "NO_SUCH_JOB"


async def test_a_crash_tells_its_id_and_nothing_else(
    edge: tuple[httpx2.AsyncClient, Edge], issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, parts = edge

    async def crash(*_args: object, **_kwargs: object) -> None:
        raise ZeroDivisionError("the secret of the inside")

    monkeypatch.setattr(type(parts.database), "call", crash)
    response = await client.post(ASK, json=QUESTION, headers=issuer.bearer())
    document = problem(response, 500)
    assert document["code"] == "INTERNAL"
    assert document["requestId"] == response.headers["X-Request-Id"]
    assert "secret" not in response.text
    assert "ZeroDivision" not in response.text


async def test_a_missing_grant_is_the_deployments_fault(
    plane: Plane, issuer: Issuer, as_stranger: str
) -> None:
    async with in_process(issuer.settings(queue_url=as_stranger)) as (client, _):
        response = await client.post(ASK, json=QUESTION, headers=issuer.bearer())
        assert problem(response, 500)["code"] == "INTERNAL"
        assert "permission" not in response.text


async def test_the_page_is_served_beside_the_api(
    tmp_path: Path, plane: Plane, settings: Settings, issuer: Issuer
) -> None:
    (tmp_path / "index.html").write_text("<title>flights</title>")
    async with in_process(settings, tmp_path) as (client, _):
        assert (await client.get("/")).text == "<title>flights</title>"
        problem(await client.get("/missing.js"), 404)
        problem(await client.get("/../conftest.py"), 404)
        problem(await client.get("/api/nothing"), 404)
        await ask(client, issuer)
