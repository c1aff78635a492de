"""Issuing tickets: to whom, for what, and for how long."""

import struct
import time
from base64 import urlsafe_b64decode
from datetime import datetime
from typing import Any

import httpx2
import pytest

from pgplane import ledger
from pgplane.edge.edge import Edge
from pgplane.settings import Settings

from ..support.blobs import write
from ..support.edges import ASK, Plane, ask, in_process, problem
from ..support.issuer import Issuer

BOB = ("acme", "bob@acme.example")
Opened = tuple[httpx2.AsyncClient, Edge]


async def issued(client: httpx2.AsyncClient, issuer: Issuer, address: str) -> dict[str, str]:
    """The tickets that ann is given there."""
    response = await client.post(address, headers=issuer.bearer())
    assert response.status_code == 200, response.text
    assert response.headers["Cache-Control"] == "no-store"
    body: dict[str, str] = response.json()
    return body


def ticket_of(url: str) -> str:
    return url.partition("ticket=")[2]


async def test_tickets_of_a_job_open_its_stream_and_all_of_its_blobs(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer
) -> None:
    asked = await ask(client, issuer)
    job = plane.claim()
    numbers = [write(plane, job, data) for data in (b"one", b"two")]
    plane.complete(job, '"done"')
    body = await issued(client, issuer, f"{asked['statusUrl']}/ticket")
    assert body.keys() == {"streamUrl", "blobTicket", "expiresAt"}
    assert body["streamUrl"].startswith(f"{asked['statusUrl']}/stream?ticket=")
    assert b"event: done" in (await client.get(body["streamUrl"])).content
    for number, data in zip(numbers, (b"one", b"two"), strict=True):
        url = f"{asked['statusUrl']}/blob/{number}?ticket={body['blobTicket']}"
        assert (await client.get(url)).content == data
        part = await client.get(url, headers={"Range": "bytes=1-"})
        assert (part.status_code, part.content) == (206, data[1:])


async def test_a_ticket_says_when_it_will_be_worthless(
    client: httpx2.AsyncClient, issuer: Issuer
) -> None:
    asked = await ask(client, issuer)
    for address in (f"{asked['statusUrl']}/ticket", "/api/flights/ticket?jobs=1"):
        body = await issued(client, issuer, address)
        (expires,) = struct.unpack(">Q", urlsafe_b64decode(ticket_of(body["streamUrl"])[:12])[:8])
        assert body["expiresAt"].endswith("Z")
        said = datetime.fromisoformat(body["expiresAt"]).timestamp()
        assert expires - 1 <= said <= expires, "never later than it is"


async def test_whether_a_job_is_there_is_asked_without_its_answer(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = await ask(client, issuer)
    plane.work("1")
    read = ledger.get_results
    answers: list[bytes | None] = []

    async def watched(*args: Any) -> Any:
        jobs = await read(*args)
        answers.extend(job.result for job in jobs)
        return jobs

    monkeypatch.setattr(ledger, "get_results", watched)
    await issued(client, issuer, f"{asked['statusUrl']}/ticket")
    stream = f"{asked['statusUrl']}/stream"
    seen = issuer.bearer() | {"Last-Event-ID": f"{asked['jobId']}.end"}
    assert (await client.head(stream, headers=issuer.bearer())).status_code == 200
    assert (await client.get(stream, headers=seen)).status_code == 204
    assert answers == [None] * 3


async def test_each_ticket_is_for_one_thing(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer
) -> None:
    asked, other = [await ask(client, issuer, params={"n": n}) for n in range(2)]
    for _ in range(2):
        job = plane.claim()
        write(plane, job, b"mine")
        plane.complete(job, "1")
    body = await issued(client, issuer, f"{asked['statusUrl']}/ticket")
    many = await issued(client, issuer, f"/api/flights/ticket?jobs={asked['jobId']}")
    tickets = {
        "stream": ticket_of(body["streamUrl"]),
        "blob": body["blobTicket"],
        "many": ticket_of(many["streamUrl"]),
    }
    addresses = {
        "stream": f"{asked['statusUrl']}/stream?",
        "blob": f"{asked['statusUrl']}/blob/1?",
        "many": f"/api/flights/stream?jobs={asked['jobId']}&",
        "many others": f"/api/flights/stream?jobs={other['jobId']}&",
        "many more": f"/api/flights/stream?jobs={asked['jobId']},{other['jobId']}&",
        "another stream": f"{other['statusUrl']}/stream?",
        "another blob": f"{other['statusUrl']}/blob/1?",
        "status": f"{asked['statusUrl']}?",
    }
    opened = {
        (purpose, name)
        for purpose, ticket in tickets.items()
        for name, address in addresses.items()
        if (await client.get(f"{address}ticket={ticket}")).status_code == 200
    }
    assert opened == {(purpose, purpose) for purpose in tickets}
    for ticket in tickets.values():
        for address in (f"{asked['statusUrl']}/ticket?", "/api/flights/ticket?jobs=1&", f"{ASK}?"):
            refused = await client.post(f"{address}ticket={ticket}")
            assert problem(refused, 401)["code"] == "TOKEN_MISSING"


async def test_an_expired_ticket_is_worthless(
    edge: Opened, plane: Plane, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, parts = edge
    asked = await ask(client, issuer)
    job = plane.claim()
    write(plane, job, b"mine")
    plane.complete(job, "1")
    tickets = await parts.tickets.get()
    with monkeypatch.context() as before:
        before.setattr(tickets, "_clock", lambda: time.time() - 1000)
        body = await issued(client, issuer, f"{asked['statusUrl']}/ticket")
        many = await issued(client, issuer, f"/api/flights/ticket?jobs={asked['jobId']}")
    for url in (
        body["streamUrl"],
        f"{asked['statusUrl']}/blob/1?ticket={body['blobTicket']}",
        many["streamUrl"],
    ):
        assert problem(await client.get(url), 401)["code"] == "TICKET_EXPIRED"


@pytest.mark.parametrize("job_id", ["999", "of ann alone"])
async def test_nobody_is_given_tickets_of_a_job_that_is_not_theirs(
    client: httpx2.AsyncClient, issuer: Issuer, job_id: str
) -> None:
    of_ann = (await ask(client, issuer, "mine"))["jobId"]
    address = f"{ASK}/{of_ann if job_id == 'of ann alone' else job_id}/ticket"
    refused = await client.post(address, headers=issuer.bearer(*BOB))
    assert problem(refused, 404)["code"] == "NO_SUCH_JOB"


async def test_any_edge_of_the_database_takes_them(
    client: httpx2.AsyncClient, plane: Plane, settings: Settings, issuer: Issuer
) -> None:
    asked = await ask(client, issuer)
    plane.work("1")
    body = await issued(client, issuer, f"{asked['statusUrl']}/ticket")
    many = await issued(client, issuer, f"/api/flights/ticket?jobs={asked['jobId']}")
    async with in_process(settings) as (other, _):
        for url in (body["streamUrl"], many["streamUrl"]):
            assert b"event: done" in (await other.get(url)).content
