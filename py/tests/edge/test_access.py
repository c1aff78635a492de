"""The one door: every address that serves a surface lets in the same people, and no other."""

import httpx2
import pytest
from starlette.requests import Request
from starlette.routing import Route

from pgplane.edge.access.tickets import STREAM
from pgplane.edge.edge import Edge
from pgplane.edge.routes import ROUTES
from pgplane.settings import Settings

from ..support.edges import ASK, QUESTION, Plane, ask, in_process, problem
from ..support.issuer import Issuer

PROBES = {"/livez", "/readyz"}
SERVING = [
    (method, route.path)
    for route in ROUTES
    if route.path not in PROBES
    for method in sorted(route.methods or ())
    if method != "HEAD"
]
BOB = ("acme", "bob@acme.example")
each_route = pytest.mark.parametrize(("method", "path"), SERVING)


def address(path: str, surface: str = "flights", job_id: str = "1") -> str:
    return path.format(surface=surface, job_id=job_id, blob="1")


def ended(asked: dict[str, str]) -> dict[str, str]:
    """What a client sends that has seen the last event."""
    return {"Last-Event-ID": f"{asked['jobId']}.end"}


def test_every_address_but_a_probe_names_a_surface() -> None:
    assert all(isinstance(route, Route) for route in ROUTES)
    assert {route.path for route in ROUTES if "{surface}" not in route.path} == PROBES


@each_route
async def test_who_proves_nothing_stays_outside(
    client: httpx2.AsyncClient, plane: Plane, method: str, path: str
) -> None:
    response = await client.request(method, address(path), json=QUESTION)
    assert problem(response, 401)["code"] == "TOKEN_MISSING"
    assert plane.jobs() == 0


@each_route
async def test_a_token_for_other_surfaces_stays_outside(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer, method: str, path: str
) -> None:
    headers = issuer.bearer(surfaces=["crews"])
    response = await client.request(method, address(path), json=QUESTION, headers=headers)
    assert problem(response, 403)["code"] == "SURFACE_FORBIDDEN"
    assert plane.jobs() == 0


@each_route
async def test_what_cannot_be_is_not_found_whoever_asks(
    client: httpx2.AsyncClient, issuer: Issuer, method: str, path: str
) -> None:
    for headers in ({}, issuer.bearer(surfaces=["crews"]), issuer.bearer()):
        nowhere = address(path, surface="No Where")
        response = await client.request(method, nowhere, json=QUESTION, headers=headers)
        assert problem(response, 404)["code"] == "NOT_FOUND"
        if "{job_id}" in path:
            no_job = address(path, job_id=str(2**63))
            response = await client.request(method, no_job, headers=headers)
            assert problem(response, 404)["code"] == "NO_SUCH_JOB"


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_the_last_events_id_tells_nothing_of_a_strangers_job(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer, method: str
) -> None:
    asked = await ask(client, issuer, "mine")
    plane.work("1")
    url = f"{asked['statusUrl']}/stream"
    nobodys = {"jobId": "999", "url": f"{ASK}/999/stream"}
    theirs = await client.request(method, url, headers=issuer.bearer(*BOB) | ended(asked))
    no_ones = await client.request(
        method, nobodys["url"], headers=issuer.bearer(*BOB) | ended(nobodys)
    )
    assert theirs.status_code == no_ones.status_code == 404
    assert theirs.content == no_ones.content
    mine = await client.request(method, url, headers=issuer.bearer() | ended(asked))
    assert (mine.status_code, mine.content) == (204, b"")
    by_ticket = await client.request(method, asked["streamUrl"], headers=ended(asked))
    assert by_ticket.status_code == 204


async def test_a_header_decides_alone(client: httpx2.AsyncClient, issuer: Issuer) -> None:
    asked = await ask(client, issuer, "mine")
    problem(await client.get(asked["streamUrl"], headers=issuer.bearer(exp=1)), 401)
    problem(await client.get(asked["streamUrl"], headers={"Authorization": "Basic YTpi"}), 401)
    refused = await client.get(asked["streamUrl"], headers=issuer.bearer(*BOB))
    assert problem(refused, 404)["code"] == "NO_SUCH_JOB"


async def test_a_ticket_of_one_tier_is_worthless_in_another(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer, settings: Settings
) -> None:
    plane.look("select plane.create_queue('surface-flights-dev')")
    asked = await ask(client, issuer)
    tier = settings.model_copy(update={"surfaces_tier": "-dev"})
    for updated, status in ((settings, 200), (tier, 401)):
        async with in_process(updated) as (other, _):
            assert (await other.head(asked["streamUrl"])).status_code == status
    async with in_process(tier) as (other, _):
        refused = await other.get(asked["streamUrl"])
        assert problem(refused, 401)["code"] == "TICKET_INVALID"


async def test_a_visitor_is_the_same_with_a_header_and_with_a_ticket(
    edge: tuple[httpx2.AsyncClient, Edge], issuer: Issuer
) -> None:
    client, parts = edge
    asked = await ask(client, issuer)
    ticket = asked["streamUrl"].partition("?")[2].encode()
    header = [(b"authorization", issuer.bearer()["Authorization"].encode())]
    scope = {
        "type": "http",
        "method": "GET",
        "path_params": {"surface": "flights", "job_id": asked["jobId"]},
    }
    by_header = await parts.access.of(
        Request({**scope, "headers": header, "query_string": b""}), STREAM
    )
    by_ticket = await parts.access.of(
        Request({**scope, "headers": [], "query_string": ticket}), STREAM
    )
    assert by_header.name == by_ticket.name == by_header.scope_keys[1]
    assert by_header.scope_keys == by_ticket.scope_keys
    assert by_header.queue == by_ticket.queue == "surface-flights"
    assert str(by_header.job_id) == str(by_ticket.job_id) == asked["jobId"]
    assert (by_ticket.envelope, "acme" in by_header.envelope) == ("", True)
