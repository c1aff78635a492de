"""Clocks: a ticket ends by that of the edge that is asked, blobs and waits by the database's."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx2
import psycopg
import pytest

from pgplane.edge.access.tickets import STREAM_DEADLINES
from pgplane.edge.edge import Edge
from pgplane.settings import Settings

from ..support.blobs import write
from ..support.clock import BEGINNING, Clock
from ..support.edges import ASK, QUESTION, Plane, ask, in_process, on_a_port, problem, until
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


def ahead_of_the_edges(connection: psycopg.Connection, seconds: int) -> Clock:
    """The database's clock, in the hands of the test, so far ahead of all edges'."""
    clock = Clock(connection)
    clock.move(int((datetime.now(UTC) - clock.now).total_seconds()) + seconds)
    return clock


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
        clock = ahead_of_the_edges(connection, 0)
        urls = await tickets_of_a_blob(edges[0], plane, issuer)
        clock.move(23 * 3600)
        assert [(await edges[1].http.get(url)).status_code for url in urls] == [200] * 4
        clock.move(2 * 3600)
        statuses = [(await edges[1].http.get(url)).status_code for url in urls]
    assert statuses == [200, 200, 410, 200], "24 hours are over, and the tickets' minutes are not"


DAY = 86_400
BOB, CID = (("acme", f"{name}@acme.example") for name in ("bob", "cid"))
OFF = pytest.mark.parametrize("off", [-2 * DAY, -3600, 0, 3600, 2 * DAY])
"""By how much the database's clock is ahead of the edge's at first."""


@dataclass
class Waiting:
    """An edge whose clock is not the database's, and callers that share one job."""

    http: httpx2.AsyncClient
    clock: Clock
    plane: Plane
    issuer: Issuer

    @property
    def seconds(self) -> int:
        """How long a stream lasts."""
        return int(Settings().stream_seconds)

    async def ask(self, *who: Any) -> dict[str, Any]:
        answered = await self.http.post(ASK, json=QUESTION, headers=self.issuer.bearer(*who))
        assert answered.status_code == 202
        body: dict[str, Any] = answered.json()
        return body

    async def leave(self, asked: dict[str, Any], *who: Any) -> str:
        """The job's status once this caller has left it."""
        headers = self.issuer.bearer(*who)
        assert (await self.http.delete(asked["statusUrl"], headers=headers)).status_code == 204
        ((status,),) = self.plane.look(
            "select status from plane.jobs where id = %s", int(asked["jobId"])
        )
        return str(status)

    def work(self) -> None:
        """A worker claims the job and finishes it, and a sweep comes in between."""
        job = self.plane.claim()
        # else a clock that is ahead would make it look like the work of one transaction
        self.plane.look("update plane.lease set claimed_at = %s returning 1", BEGINNING)
        self.plane.look("select plane.sweep()")
        self.plane.complete(job, "1")

    @asynccontextmanager
    async def stream(self, asked: dict[str, Any]) -> AsyncIterator[AsyncIterator[str]]:
        """The names of a stream's events."""
        async with self.http.stream("GET", asked["streamUrl"]) as response:
            assert response.status_code == 200
            yield (event.event async for event in httpx2.EventSource(response))


@pytest.fixture
async def waiting(
    off: int, plane: Plane, settings: Settings, issuer: Issuer, queue_db: str
) -> AsyncIterator[Waiting]:
    """It reads what it waits for when it is told of it, and not by the way."""
    plane.look("select plane.create_queue('surface-flights', p_notify => 'waiters')")
    quiet = settings.model_copy(update={"sweep_seconds": 3600})
    with psycopg.connect(queue_db, autocommit=True) as connection:
        clock = ahead_of_the_edges(connection, off)
        async with on_a_port(quiet) as (http, _):
            yield Waiting(http, clock, plane, issuer)


@OFF
async def test_a_stream_is_told_whatever_its_edge_takes_the_time_for(waiting: Waiting) -> None:
    """A sweep forgets nobody who still waits; without a notification nothing would come."""
    asked = await waiting.ask()
    async with waiting.stream(asked) as events, asyncio.timeout(20):
        assert await anext(events) == "queued"
        waiting.clock.move(waiting.seconds - 1)
        waiting.work()
        assert await anext(events) == "done"


@OFF
@pytest.mark.parametrize("way", ["streams", "polls"])
async def test_who_waits_wants_the_job_for_as_long_as_a_stream_lasts(
    waiting: Waiting, way: str
) -> None:
    """The two minutes of who asked are over: he wants it as long as he waits, and no longer."""
    asked = await waiting.ask()
    waiting.clock.move(121)
    if way == "polls":
        polled = await waiting.http.get(asked["statusUrl"], headers=waiting.issuer.bearer())
        assert polled.status_code == 200
    else:
        async with waiting.stream(asked) as events, asyncio.timeout(20):
            assert await anext(events) == "queued"
    waiting.clock.move(waiting.seconds - 1)
    assert (await waiting.ask(*BOB))["jobId"] == asked["jobId"]
    assert await waiting.leave(asked, *BOB) == "pending"
    # a deadline is rounded up to ten seconds
    waiting.clock.move(11)
    assert (await waiting.ask(*CID))["jobId"] == asked["jobId"]
    assert await waiting.leave(asked, *CID) == "cancelled"


@OFF
async def test_who_streams_leaves_as_any_other(waiting: Waiting) -> None:
    asked = await waiting.ask()
    waiting.clock.move(121)
    async with waiting.stream(asked) as events, asyncio.timeout(20):
        assert await anext(events) == "queued"
        assert (await waiting.ask(*BOB))["jobId"] == asked["jobId"]
        assert await waiting.leave(asked, *BOB) == "pending"
        assert await waiting.leave(asked) == "cancelled"
        assert await anext(events) == "error"


@OFF
async def test_a_question_that_waits_is_answered(waiting: Waiting) -> None:
    headers = {**waiting.issuer.bearer(), "Prefer": "wait=20"}
    answered = asyncio.create_task(waiting.http.post(ASK, json=QUESTION, headers=headers))
    noted = "select state from plane.waiter"
    await until(lambda: waiting.plane.look(noted) == [("waits",)])
    waiting.work()
    assert (await answered).status_code == 200
