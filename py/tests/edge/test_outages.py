"""The edge without its queue database, or with one that is slow or has gone away for a while."""

import asyncio

import httpx2
import psycopg
import pytest

from pgplane.edge import database
from pgplane.edge.edge import Edge
from pgplane.settings import Settings

from ..support.edges import ASK, QUESTION, Plane, ask, in_process, problem, ready, until
from ..support.issuer import Issuer
from ..support.postgres import Server


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


async def test_who_asks_while_it_is_being_found_out_is_not_told_that_all_is_well(
    client: httpx2.AsyncClient,
) -> None:
    answers = await asyncio.gather(*(client.get("/readyz") for _ in range(2)))
    assert answers[1].status_code == 503


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


def somebody_waits_for_a_lock(plane: Plane) -> bool:
    return plane.look(
        "select exists (select from pg_stat_activity"
        " where datname = current_database() and wait_event_type = 'Lock')"
    ) == [(True,)]


async def test_a_strangers_transaction_does_not_hold_up_other_questions(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer, settings: Settings, queue_db: str
) -> None:
    await ask(client, issuer, params={"warm": "up"})
    with psycopg.connect(queue_db) as stranger:
        ((envelope,),) = plane.look("select envelope::text from plane.jobs")
        stranger.execute(
            "select plane.submit_request('surface-flights', 'airlines', '{}', %s)", [envelope]
        )
        stuck = [
            asyncio.create_task(client.post(ASK, json=QUESTION, headers=issuer.bearer()))
            for _ in range(2 * settings.pool_size)
        ]
        await until(lambda: somebody_waits_for_a_lock(plane))
        await ask(client, issuer, params={"other": "question"})
        assert {problem(response, 503)["code"] for response in await asyncio.gather(*stuck)} == {
            "BUSY"
        }


async def test_an_unfinished_completion_does_not_hold_up_other_questions(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer, settings: Settings, queue_db: str
) -> None:
    await ask(client, issuer)
    job = plane.claim()
    with psycopg.connect(queue_db) as worker:
        worker.execute("select plane.complete_job(%s, %s, '1')", job)
        waiting = issuer.bearer() | {"Prefer": "wait=5"}
        stuck = [
            asyncio.create_task(client.post(ASK, json=QUESTION, headers=waiting))
            for _ in range(2 * settings.pool_size)
        ]
        await until(lambda: somebody_waits_for_a_lock(plane))
        await ask(client, issuer, params={"other": "question"})
        worker.commit()
        for response in await asyncio.gather(*stuck):
            assert response.status_code in (200, 202, 503)


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
