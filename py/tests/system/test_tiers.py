"""Tiers: one image drains one database twice, and nothing of either is anything to the other."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import httpx2
import psycopg
import pytest
import yaml
from psycopg import sql

from ..conftest import ClientDatabase
from ..support.browsers import Browser
from ..support.issuer import Issuer
from ..support.postgres import ROOT, Server, for_database
from .tiers import DEV, LIVE, Tier, flights

JOBS = "select id::text, queue, status from plane.jobs order by id"


@pytest.fixture
def ledger(queue_db: str) -> Iterator[psycopg.Connection]:
    """The queue database as an onlooker with every right; both tiers have their queue."""
    with psycopg.connect(queue_db, autocommit=True) as connection:
        for tier in (LIVE, DEV):
            connection.execute("select plane.create_queue(%s)", [flights.queue + tier])
        yield connection


@pytest.fixture
def tiers(
    ledger: psycopg.Connection,
    server: Server,
    client_db: ClientDatabase,
    as_edge: str,
    as_worker: str,
    issuer: Issuer,
) -> Iterator[dict[str, Tier]]:
    """Both tiers, by their suffix: one queue database, one issuer, a client database of each."""
    of_live = psycopg.conninfo.conninfo_to_dict(client_db.reader)["dbname"]
    of_dev = f"{of_live}_dev"
    at = {LIVE: client_db.reader, DEV: for_database(client_db.reader, of_dev)}
    with psycopg.connect(server.database_url("postgres"), autocommit=True) as connection:
        names = sql.Identifier(of_dev), sql.Identifier(str(of_live))
        connection.execute(sql.SQL("create database {} template {}").format(*names))
        yield {tier: Tier(tier, (as_edge, as_worker), at[tier], issuer) for tier in (LIVE, DEV)}
        connection.execute(sql.SQL("drop database {} with (force)").format(names[0]))


@dataclass
class Asker:
    """Ann at the edge of one tier."""

    tier: Tier
    http: httpx2.AsyncClient
    headers: dict[str, str]

    @property
    def browser(self) -> Browser:
        return Browser(self.http, "flights", self.headers)

    async def ask(self, operation: str = "where", n: int = 0) -> dict[str, Any]:
        return await self.browser.ask(operation, n=n)

    async def answer(self, asked: dict[str, Any]) -> Any:
        """What the stream of a question ends with, as a result."""
        name, data = await self.browser.answer(asked)
        assert name == "done", data
        return data["result"]

    async def do(self, method: str, url: str, *, by_ticket: bool = False) -> httpx2.Response:
        """What she is answered there, with her header or without."""
        headers = {} if by_ticket else self.headers
        return await self.http.request(method, url, headers=headers)


@pytest.fixture
async def askers(
    tiers: dict[str, Tier], request: pytest.FixtureRequest
) -> AsyncIterator[tuple[Asker, Asker]]:
    """Ann at both edges, where each tier has its worker; a param: further settings of the edges."""
    settings: dict[str, str] = getattr(request, "param", {})
    async with AsyncExitStack() as stack:
        askers = []
        for tier in tiers.values():
            edge = stack.enter_context(tier.edge(**settings))
            stack.enter_context(tier.worker())
            http = await stack.enter_async_context(edge.connections())
            askers.append(Asker(tier, http, tier.issuer.bearer()))
        yield askers[0], askers[1]


async def test_one_question_in_two_tiers_is_two_jobs_with_two_answers(
    ledger: psycopg.Connection, askers: tuple[Asker, Asker]
) -> None:
    for asker in askers:
        ledger.execute("select plane.pause_queue(%s)", [asker.tier.queue])
    asked = [await asker.ask() for asker in askers]
    again = [await asker.ask() for asker in askers]
    assert [one["coalesced"] for one in asked] == [False, False]
    assert [one["coalesced"] for one in again] == [True, True]
    jobs = [one["jobId"] for one in asked]
    assert [one["jobId"] for one in again] == jobs
    queues = [asker.tier.queue for asker in askers]
    expected = [(job, queue, "pending") for job, queue in zip(jobs, queues, strict=True)]
    assert ledger.execute(JOBS).fetchall() == expected

    for asker in askers:
        ledger.execute("select plane.resume_queue(%s)", [asker.tier.queue])
    first = [await asker.answer(one) for asker, one in zip(askers, asked, strict=True)]
    databases = [asker.tier.client_url.rpartition("/")[2] for asker in askers]
    assert [one["answered"].split()[0] for one in first] == databases

    # out of a cache, each has its own again
    later = [await asker.ask() for asker in askers]
    assert [await asker.answer(one) for asker, one in zip(askers, later, strict=True)] == first
    polls = [
        await asker.browser.poll(one["jobId"]) for asker, one in zip(askers, later, strict=True)
    ]
    assert [poll.json()["cache"] for poll in polls] == ["hit", "hit"]
    runs = ledger.execute("select queue, count(distinct locked_by) from plane.jobs group by queue")
    assert sorted(runs.fetchall()) == sorted((queue, 1) for queue in queues)
    workers = ledger.execute("select count(distinct locked_by) from plane.jobs").fetchone()
    assert workers == (2,), "a worker drains one of them"


@pytest.mark.parametrize(
    "askers",
    [{}, {"ticket_key": "one key for both tiers"}],
    ids=["the key of the database", "a key that is set"],
    indirect=True,
)
async def test_what_one_tier_has_is_nothing_at_the_other(askers: tuple[Asker, Asker]) -> None:
    for home, away in (askers, askers[::-1]):
        asked = await home.ask("export")
        number = (await home.answer(asked))["blobRef"]["blob"]
        job, named = asked["statusUrl"], f"jobs={asked['jobId']}"
        issued = (await home.do("POST", f"{job}/ticket")).json()
        of_many = (await home.do("POST", f"/api/flights/ticket?{named}")).json()
        for url in (
            asked["streamUrl"],
            issued["streamUrl"],
            f"{job}/blob/{number}?ticket={issued['blobTicket']}",
            of_many["streamUrl"],
        ):
            refused = await away.do("GET", url, by_ticket=True)
            assert (refused.status_code, refused.json()["code"]) == (401, "TICKET_INVALID"), url
            assert (await home.do("GET", url, by_ticket=True)).status_code == 200, url
        for method, url in (
            ("GET", job),
            ("GET", f"{job}/stream"),
            ("GET", f"{job}/blob/{number}"),
            ("POST", f"{job}/ticket"),
            ("DELETE", job),
        ):
            assert (await away.do(method, url)).status_code == 404, f"{method} {url}"
            assert (await home.do(method, url)).status_code in (200, 204), f"{method} {url}"
        events = [
            (await asker.do("GET", f"/api/flights/stream?{named}")).text for asker in (away, home)
        ]
        assert ["event: done" in told for told in events] == [False, True]
        assert ['"status":404' in told for told in events] == [True, False]


async def test_who_leaves_a_job_in_one_tier_stays_in_the_other(
    ledger: psycopg.Connection, askers: tuple[Asker, Asker]
) -> None:
    live, dev = askers
    for asker in askers:
        ledger.execute("select plane.pause_queue(%s)", [asker.tier.queue])
    of_live, of_dev = [await asker.ask() for asker in askers]
    assert (await dev.do("DELETE", of_live["statusUrl"])).status_code == 404
    assert (await dev.do("DELETE", of_dev["statusUrl"])).status_code == 204
    expected = [
        (of_live["jobId"], live.tier.queue, "pending"),
        (of_dev["jobId"], dev.tier.queue, "cancelled"),
    ]
    assert ledger.execute(JOBS).fetchall() == expected


async def test_a_manifest_is_of_its_tier_alone(
    ledger: psycopg.Connection, tiers: dict[str, Tier]
) -> None:
    with tiers[DEV].worker(), tiers[LIVE].edge() as live_edge, tiers[DEV].edge() as dev_edge:
        # an operation that only one tier has, as when its worker is of a newer image
        newer = [{**flights.manifest()[0], "name": "runways"}]
        ledger.execute(
            "select plane.register_manifest(%s, %s)", [tiers[DEV].queue, json.dumps(newer)]
        )
        async with live_edge.connections() as live_http, dev_edge.connections() as dev_http:
            headers = tiers[LIVE].issuer.bearer()
            live, dev = (Browser(http, flights.name, headers) for http in (live_http, dev_http))
            question = {"operation": "where"}
            refused = await live.post(question)
            assert (refused.status_code, refused.json()["code"]) == (503, "NOT_READY")
            assert (await dev.post(question)).status_code == 202
            with tiers[LIVE].worker():
                assert (await live.post(question)).status_code == 202
                asked = [await browser.post({"operation": "runways"}) for browser in (live, dev)]
                assert [answer.status_code for answer in asked] == [404, 202]
                documents = [
                    (await http.get("/api/flights/openapi.json", headers=headers)).text
                    for http in (live_http, dev_http)
                ]
                assert ["runways" in document for document in documents] == [False, True]


async def test_no_address_leads_from_one_tier_to_the_other(tiers: dict[str, Tier]) -> None:
    with tiers[LIVE].edge() as edge:
        async with edge.connections() as http:
            for surface in ("flights-dev", "flights%2Ddev", "surface-flights-dev"):
                ann = Browser(http, surface, edge.issuer.bearer())
                refused = await ann.post({"operation": "where"})
                assert (refused.status_code, refused.json()["code"]) == (404, "NOT_FOUND")


# Deploying ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def services() -> dict[str, dict[str, Any]]:
    """The services of the compose file, aliases and merges resolved."""
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    found: dict[str, dict[str, Any]] = compose["services"]
    return found


@pytest.mark.parametrize(
    ("name", "told_apart_by"),
    [
        ("edge", {"PLANE_SURFACES_TIER"}),
        ("worker", {"PLANE_QUEUE", "PLANE_CLIENT_URL"}),
    ],
)
def test_the_profile_dev_is_the_same_image_with_other_settings(
    services: dict[str, dict[str, Any]], name: str, told_apart_by: set[str]
) -> None:
    live, dev = services[name], services[f"{name}-dev"]
    assert ("profiles" in live, dev.pop("profiles")) == (False, ["dev"])
    settings = [service.pop("environment") for service in (live, dev)]
    assert {key for key, _ in settings[0].items() ^ settings[1].items()} == told_apart_by
    ports = [service.pop("ports", None) for service in (live, dev)]
    assert (ports[0] == ports[1]) is (name == "worker"), "two edges cannot have one port"
    assert live == dev
