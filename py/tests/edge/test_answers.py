"""The edge's routes, but for streams: what they answer."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from pgplane.edge.edge import Edge
from pgplane.settings import Settings

from ..support.edges import ASK, QUESTION, Plane, ask, in_process, problem, until
from ..support.issuer import Issuer


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


async def test_the_tier_names_the_queue(plane: Plane, settings: Settings, issuer: Issuer) -> None:
    plane.surface("flights-dev")
    async with in_process(settings.model_copy(update={"surfaces_tier": "-dev"})) as (client, _):
        await ask(client, issuer)
    assert plane.look("select queue from plane.jobs") == [("surface-flights-dev",)]


async def test_another_tier_is_out_of_reach(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer
) -> None:
    plane.surface("flights-dev")
    asked = "/api/flights-dev/q"
    for method, address in (("POST", asked), ("GET", f"{asked}/1"), ("GET", f"{asked}/1/stream")):
        response = await client.request(method, address, json=QUESTION, headers=issuer.bearer())
        assert problem(response, 404)["detail"] == "no such surface"
    assert plane.jobs() == 0


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
