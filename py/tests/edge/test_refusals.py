"""What the edge refuses, and how it says so."""

import json
from collections.abc import AsyncIterator

import httpx2
import pytest

from pgplane.edge.edge import Edge
from pgplane.settings import Settings

from ..support.edges import ASK, QUESTION, Plane, ask, in_process, problem
from ..support.issuer import Issuer


@pytest.mark.parametrize(
    ("surface", "body", "status", "detail"),
    [
        ("nowhere", b'{"operation":"airlines"}', 404, "no such queue"),
        ("No Where", b'{"operation":"airlines"}', 404, "no such surface"),
        ("x" * 60, b'{"operation":"airlines"}', 404, "no such surface"),
        ("fli%00ghts", b'{"operation":"airlines"}', 404, "no such surface"),
        ("flights-dev", b'{"operation":"airlines"}', 404, "no such surface"),
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
        ("flights", b'{"operation":"airlines","params":{"a":1e999999}}', 422, "invalid params"),
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


async def test_the_router_refuses_with_problems_too(
    client: httpx2.AsyncClient, issuer: Issuer
) -> None:
    assert problem(await client.get("/nothing"), 404)["code"] == "NOT_FOUND"
    assert problem(await client.get("/api/flights/q/seven"), 404)["code"] == "NO_SUCH_JOB"
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


@pytest.mark.parametrize("digits", ["9" * 20, "9" * 5000, "1e3", "-1", "%D9%A1"])
@pytest.mark.parametrize("rest", ["", "/stream?ticket=x"])
async def test_what_is_no_job_id_is_no_job(
    client: httpx2.AsyncClient, issuer: Issuer, digits: str, rest: str
) -> None:
    problem(await client.get(f"{ASK}/{digits}{rest}", headers=issuer.bearer()), 404)


async def test_a_slash_too_many_is_not_found(client: httpx2.AsyncClient, issuer: Issuer) -> None:
    for address in (f"{ASK}/", f"{ASK}/1/", f"{ASK}/1/stream/?ticket=x", "/livez/"):
        problem(await client.get(address, headers=issuer.bearer()), 404)
