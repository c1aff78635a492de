"""Leaving: whose job it ends, and whose it does not."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from pgplane import ledger
from pgplane.edge.edge import Edge
from pgplane.settings import Settings

from ..support.edges import ASK, QUESTION, Plane, ask, in_process, problem
from ..support.issuer import Issuer

BOB = ("acme", "bob@acme.example")
NOTED = "select waiter, state, deadline from plane.waiter order by waiter"


@pytest.fixture
async def other(plane: Plane, settings: Settings) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of another edge of the same database."""
    async with in_process(settings) as (client, _):
        yield client


def status(plane: Plane, job_id: str) -> str:
    ((found,),) = plane.look("select status from plane.jobs where id = %s", job_id)
    assert isinstance(found, str)
    return found


async def join(client: httpx2.AsyncClient, issuer: Issuer, *who: Any) -> str:
    """Ask the one question of this room; the job's id."""
    response = await client.post(ASK, json=QUESTION, headers=issuer.bearer(*who))
    assert response.status_code == 202
    return str(response.json()["jobId"])


async def leave(client: httpx2.AsyncClient, issuer: Issuer, job_id: str, *who: Any) -> None:
    response = await client.delete(f"{ASK}/{job_id}", headers=issuer.bearer(*who))
    assert (response.status_code, response.content) == (204, b"")
    assert response.headers["Cache-Control"] == "no-store"


async def test_who_leaves_last_cancels_whichever_edge_each_came_through(
    client: httpx2.AsyncClient, other: httpx2.AsyncClient, plane: Plane, issuer: Issuer
) -> None:
    job_id = await join(client, issuer)
    assert await join(other, issuer, *BOB) == job_id
    await leave(other, issuer, job_id)
    assert status(plane, job_id) == "pending"
    await leave(client, issuer, job_id, *BOB)
    assert status(plane, job_id) == "cancelled"


async def test_a_stream_that_was_still_opening_does_not_want_it_again(
    edge: tuple[httpx2.AsyncClient, Edge],
    plane: Plane,
    issuer: Issuer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its caller leaves while it is on its way to the database; bob leaves later, as the last."""
    client, parts = edge
    job_id = await join(client, issuer)
    assert await join(client, issuer, *BOB) == job_id
    register, leave_job, until_noted = (
        ledger.register_waiters,
        ledger.leave_job,
        parts.pump.until_noted,
    )
    on_its_way, gate = asyncio.Event(), asyncio.Event()

    async def held_up(*args: Any) -> Any:
        on_its_way.set()
        await gate.wait()
        return await register(*args)

    async def left(*args: Any) -> Any:
        status = await leave_job(*args)
        gate.set()
        return status

    async def asked_for(*args: Any) -> None:
        gate.set()
        await until_noted(*args)

    monkeypatch.setattr(ledger, "register_waiters", held_up)
    monkeypatch.setattr(ledger, "leave_job", left)
    monkeypatch.setattr(parts.pump, "until_noted", asked_for)
    caller = await parts.access._verifier.caller(issuer.bearer()["Authorization"])
    keys = await parts.access._scope_keys.of(caller)
    opening = asyncio.create_task(parts.pump.attach("surface-flights", int(job_id), keys, 60))
    await on_its_way.wait()
    await leave(client, issuer, job_id)
    assert await opening is not None
    await leave(client, issuer, job_id, *BOB)
    assert status(plane, job_id) == "cancelled"


async def test_who_comes_back_wants_it_again(
    client: httpx2.AsyncClient, other: httpx2.AsyncClient, plane: Plane, issuer: Issuer
) -> None:
    job_id = await join(client, issuer)
    assert await join(client, issuer, *BOB) == job_id
    await leave(client, issuer, job_id)
    assert await join(other, issuer) == job_id
    await leave(client, issuer, job_id, *BOB)
    assert status(plane, job_id) == "pending"
    await leave(client, issuer, job_id)
    assert status(plane, job_id) == "cancelled"
    assert await join(client, issuer) != job_id


async def test_a_running_job_is_told_to_stop(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer
) -> None:
    job_id = await join(client, issuer)
    plane.claim()
    await leave(client, issuer, job_id)
    assert status(plane, job_id) == "cancelling"


async def test_an_ended_job_stays_what_it_is(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer
) -> None:
    job_id = await join(client, issuer)
    plane.work('"kept"')
    for _ in range(2):
        await leave(client, issuer, job_id)
    found = await client.get(f"{ASK}/{job_id}", headers=issuer.bearer())
    assert (found.json()["status"], found.json()["result"]) == ("done", "kept")


async def test_a_job_per_actor_is_left_by_its_actor(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer
) -> None:
    job_id = (await ask(client, issuer, "mine"))["jobId"]
    refused = await client.delete(f"{ASK}/{job_id}", headers=issuer.bearer(*BOB))
    assert problem(refused, 404)["code"] == "NO_SUCH_JOB"
    await leave(client, issuer, job_id)
    assert status(plane, job_id) == "cancelled"


@pytest.mark.parametrize("other_caller", [{"scope": ["JFK"]}, {"client": "umbrella"}])
async def test_a_strangers_job_is_no_job(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer, other_caller: dict[str, Any]
) -> None:
    job_id = await join(client, issuer)
    headers = issuer.bearer(**other_caller)
    theirs = await client.delete(f"{ASK}/{job_id}", headers=headers)
    none = await client.delete(f"{ASK}/999", headers=headers)
    assert problem(theirs, 404)["code"] == "NO_SUCH_JOB"
    assert theirs.content == none.content
    assert status(plane, job_id) == "pending"


async def test_a_ticket_does_not_leave(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer
) -> None:
    asked = await ask(client, issuer)
    ticket = asked["streamUrl"].partition("?")[2]
    refused = await client.delete(f"{asked['statusUrl']}?{ticket}")
    assert problem(refused, 401)["code"] == "TOKEN_MISSING"
    assert status(plane, asked["jobId"]) == "pending"


async def test_who_polls_wants_the_job_until_it_ends(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer
) -> None:
    job_id = await join(client, issuer)
    assert plane.look(NOTED) == []
    for _ in range(3):
        polled = await client.get(f"{ASK}/{job_id}", headers=issuer.bearer(*BOB))
        assert polled.headers["Retry-After"] == "1"
    ((_, state, _),) = plane.look(NOTED)
    assert state == "waits"
    await leave(client, issuer, job_id)
    assert status(plane, job_id) == "pending", "somebody who polls wants it"
    await leave(client, issuer, job_id, *BOB)
    assert status(plane, job_id) == "cancelled"
    plane.look("delete from plane.waiter returning 1")
    await client.get(f"{ASK}/{job_id}", headers=issuer.bearer(*BOB))
    assert plane.look(NOTED) == []


async def test_a_poll_writes_only_what_is_not_noted_yet(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer
) -> None:
    job_id = await join(client, issuer)
    plane.look(
        "select plane.register_waiter('surface-flights', id, scope_key, 'x', '1 h') from plane.jobs"
    )
    await client.get(f"{ASK}/{job_id}", headers=issuer.bearer())
    plane.look("update plane.waiter set deadline = deadline + interval '1 hour' returning 1")
    before = plane.look("select xmin, waiter from plane.waiter order by waiter")
    assert len(before) == 2
    for _ in range(3):
        await client.get(f"{ASK}/{job_id}", headers=issuer.bearer())
    assert plane.look("select xmin, waiter from plane.waiter order by waiter") == before
