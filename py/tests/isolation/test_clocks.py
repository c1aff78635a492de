"""Clocks: a ticket ends by the clock of the edge that is asked, a blob by the database's."""

import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime

import httpx2
import psycopg
import pytest

from pgplane.edge.access.tickets import STREAM_DEADLINES
from pgplane.edge.edge import Edge
from pgplane.settings import Settings

from ..support.blobs import write
from ..support.clock import Clock
from ..support.edges import Plane, ask, in_process, problem
from ..support.issuer import Issuer


@dataclass
class Clocked:
    """An edge whose clock stands still, at a time that the test says."""

    http: httpx2.AsyncClient
    parts: Edge

    async def set(self, now: float) -> None:
        tickets = await self.parts.tickets.get()
        tickets._clock = lambda: now


@pytest.fixture
async def edges(plane: Plane, settings: Settings) -> AsyncIterator[tuple[Clocked, Clocked]]:
    """Two edges of one database."""
    async with AsyncExitStack() as stack:
        one, other = [
            Clocked(*await stack.enter_async_context(in_process(settings))) for _ in range(2)
        ]
        yield one, other


async def tickets_of_a_blob(at: Clocked, plane: Plane, issuer: Issuer) -> list[str]:
    """Addresses with tickets in them: of a job's stream, of its blob, and of many jobs."""
    asked = await ask(at.http, issuer)
    job = plane.claim()
    write(plane, job, b"bytes")
    plane.complete(job, "1")
    url, headers = asked["statusUrl"], issuer.bearer()
    of_job = (await at.http.post(f"{url}/ticket", headers=headers)).json()
    many = f"/api/flights/ticket?jobs={asked['jobId']}"
    of_many = (await at.http.post(many, headers=headers)).json()
    blob = f"{url}/blob/1?ticket={of_job['blobTicket']}"
    return [asked["streamUrl"], of_job["streamUrl"], blob, of_many["streamUrl"]]


async def test_a_ticket_ends_by_the_clock_of_the_edge_that_is_asked(
    edges: tuple[Clocked, Clocked],
    plane: Plane,
    issuer: Issuer,
    settings: Settings,
    subtests: pytest.Subtests,
) -> None:
    """A clock that is ahead ends it sooner by just so much, one that is behind later."""
    one, other = edges
    now = int(time.time())
    await one.set(now)
    urls = await tickets_of_a_blob(one, plane, issuer)
    lasts = int(STREAM_DEADLINES * settings.stream_seconds)
    for ahead in (-86_400, -1, 0, 1, 86_400):
        for age in (lasts - 1, lasts):
            await one.set(now + age)
            await other.set(now + age + ahead)
            for edge, has_lasted in ((one, age), (other, age + ahead)):
                for url in urls:
                    with subtests.test(ahead=ahead, age=age, url=url):
                        answered = await edge.http.get(url)
                        if has_lasted < lasts:
                            assert answered.status_code == 200
                        else:
                            assert problem(answered, 401)["code"] == "TICKET_EXPIRED"


async def test_the_databases_clock_ends_blobs_and_no_tickets(
    edges: tuple[Clocked, Clocked], plane: Plane, issuer: Issuer, queue_db: str
) -> None:
    with psycopg.connect(queue_db, autocommit=True) as connection:
        clock = Clock(connection)
        clock.move(int((datetime.now(UTC) - clock.now).total_seconds()))
        urls = await tickets_of_a_blob(edges[0], plane, issuer)
        clock.move(23 * 3600)
        assert [(await edges[1].http.get(url)).status_code for url in urls] == [200] * 4
        clock.move(2 * 3600)
        statuses = [(await edges[1].http.get(url)).status_code for url in urls]
    assert statuses == [200, 200, 410, 200], "24 hours are over, and the tickets' minutes are not"
