"""One stream for many jobs: each is told as by its own, and none disturbs another."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import httpx2
import pytest
from starlette.types import Message

from pgplane import ledger
from pgplane.edge.database import QueueDatabase
from pgplane.edge.edge import Edge
from pgplane.edge.replies import tellers
from pgplane.edge.replies.gathering import ROOM, Gathering
from pgplane.edge.replies.pump import ReplyPump
from pgplane.edge.replies.streams import EventStream, Streams
from pgplane.edge.replies.waiters import Waiter
from pgplane.errors import Unavailable
from pgplane.ledger.records import Job
from pgplane.settings import Settings

from ..support.edges import Plane, ask, on_a_port, problem, until
from ..support.issuer import Issuer

MANY = "/api/flights/stream"
BOB = ("acme", "bob@acme.example")
QUEUE, KEY = "surface-flights", "a" * 64
Opened = tuple[httpx2.AsyncClient, Edge]
Told = tuple[str, str, dict[str, Any]]
"""Name, id and data of an event."""


@pytest.fixture
async def live(plane: Plane, settings: Settings) -> AsyncIterator[Opened]:
    async with on_a_port(settings) as opened:
        yield opened


class Events:
    """The events of one stream, as an EventSource would see them."""

    def __init__(self, response: httpx2.Response) -> None:
        self._events = httpx2.EventSource(response).__aiter__()

    async def next(self) -> Told:
        async with asyncio.timeout(20):
            event = await anext(self._events)
        return event.event, event.id, json.loads(event.data)

    async def take(self, count: int) -> list[Told]:
        return [await self.next() for _ in range(count)]

    async def rest(self) -> list[Told]:
        """All until the stream ends."""
        async with asyncio.timeout(20):
            return [(one.event, one.id, json.loads(one.data)) async for one in self._events]


@asynccontextmanager
async def follow(
    client: httpx2.AsyncClient, job_ids: list[str], headers: dict[str, str]
) -> AsyncIterator[Events]:
    address = f"{MANY}?jobs={','.join(job_ids)}"
    async with client.stream("GET", address, headers=headers) as response:
        assert response.status_code == 200
        assert response.headers["Content-Type"].startswith("text/event-stream")
        yield Events(response)


async def ask_many(client: httpx2.AsyncClient, issuer: Issuer, count: int) -> list[str]:
    return [(await ask(client, issuer, params={"n": n}))["jobId"] for n in range(count)]


async def test_thirteen_jobs_are_told_by_one_stream(
    live: Opened, plane: Plane, issuer: Issuer
) -> None:
    client, parts = live
    job_ids = await ask_many(client, issuer, 13)
    async with follow(client, job_ids, issuer.bearer()) as events:
        waiting = await events.take(13)
        assert [(name, told_as, data["jobId"]) for name, told_as, data in waiting] == [
            ("queued", f"{job_id}.queued", job_id) for job_id in job_ids
        ]
        assert (len(parts.pump), len(parts.streams)) == (13, 1)
        for n in range(13):
            plane.work(json.dumps({"n": n}))
        *ends, last = await events.rest()
    assert last == ("end", "end", {})
    results = {data["jobId"]: data["result"] for name, _, data in ends if name == "done"}
    assert results == {job_id: {"n": n} for n, job_id in enumerate(job_ids)}
    assert {told_as for name, told_as, _ in ends if name == "done"} == {
        f"{job_id}.end" for job_id in job_ids
    }
    assert (len(parts.pump), len(parts.streams), len(parts.admission.streams)) == (0, 0, 0)


async def test_what_ended_meanwhile_is_told_once_after_a_reconnect(
    live: Opened, plane: Plane, issuer: Issuer
) -> None:
    client, _ = live
    job_ids = await ask_many(client, issuer, 13)
    async with follow(client, job_ids, issuer.bearer()) as events:
        await events.take(13)
    plane.work('"meanwhile"')
    back = issuer.bearer() | {"Last-Event-ID": f"{job_ids[12]}.queued"}
    async with follow(client, job_ids, back) as events:
        told = await events.take(13)
        assert told[0][:2] == ("done", f"{job_ids[0]}.end")
        assert [name for name, _, _ in told[1:]] == ["queued"] * 12
        for _ in range(12):
            plane.work("1")
        rest = await events.rest()
    ended = [told_as for name, told_as, _ in [*told, *rest] if name == "done"]
    assert sorted(ended) == sorted(f"{job_id}.end" for job_id in job_ids)


async def test_who_has_seen_the_end_is_told_so(client: httpx2.AsyncClient, issuer: Issuer) -> None:
    seen = issuer.bearer() | {"Last-Event-ID": "end"}
    for method in ("GET", "HEAD"):
        response = await client.request(method, f"{MANY}?jobs=1", headers=seen)
        assert (response.status_code, response.content) == (204, b"")
    refused = await client.get(f"{MANY}?jobs=1", headers={"Last-Event-ID": "end"})
    assert problem(refused, 401)["code"] == "TOKEN_MISSING"


async def test_a_strangers_job_disturbs_nobody(live: Opened, plane: Plane, issuer: Issuer) -> None:
    client, _ = live
    mine = (await ask(client, issuer, "mine"))["jobId"]
    response = await client.post(
        "/api/flights/q",
        json={"operation": "mine", "params": {}},
        headers=issuer.bearer(*BOB),
    )
    bobs = response.json()["jobId"]
    ids = [bobs, mine, "999", str(2**63)]
    async with follow(client, ids, issuer.bearer()) as events:
        told = await events.take(4)
        refusals = [data for name, _, data in told if name == "error"]
        assert [data.pop("jobId") for data in refusals] == [bobs, "999", str(2**63)]
        assert refusals[0]["code"] == "NO_SUCH_JOB"
        assert refusals[0]["status"] == 404
        assert refusals[0] == refusals[1] == refusals[2]
        assert ("queued", f"{mine}.queued") in [one[:2] for one in told]
        plane.work("1")
        plane.work("2")
        assert [name for name, _, _ in await events.rest()][-2:] == ["done", "end"]


async def test_where_none_is_the_callers_the_stream_ends(live: Opened, issuer: Issuer) -> None:
    client, parts = live
    async with follow(client, ["998", "999"], issuer.bearer()) as events:
        assert [name for name, _, _ in await events.rest()] == ["error", "error", "end"]
    assert (len(parts.pump), len(parts.streams), len(parts.admission.streams)) == (0, 0, 0)


async def test_a_job_named_twice_is_told_once(live: Opened, plane: Plane, issuer: Issuer) -> None:
    client, _ = live
    (job_id,) = await ask_many(client, issuer, 1)
    plane.work("1")
    async with follow(client, [job_id, job_id, f"0{job_id}"], issuer.bearer()) as events:
        assert [name for name, _, _ in await events.rest()] == ["done", "end"]


async def test_the_deadline_ends_the_stream_and_no_job(
    plane: Plane, settings: Settings, issuer: Issuer
) -> None:
    brief = settings.model_copy(update={"stream_seconds": 0.3})
    async with on_a_port(brief) as (client, parts):
        job_ids = await ask_many(client, issuer, 2)
        plane.work("1")
        async with follow(client, job_ids, issuer.bearer()) as events:
            told = await events.rest()
        late = next(data for name, _, data in told if name == "error")
        assert (late["code"], late["jobId"]) == ("TIMEOUT", job_ids[1])
        assert [name for name, _, _ in told] == ["done", "queued", "error", "end"]
        assert len(parts.pump) == 0
        plane.work("2")
        poll = await client.get(f"/api/flights/q/{job_ids[1]}", headers=issuer.bearer())
        assert poll.json()["result"] == 2


async def test_a_ticket_is_for_these_jobs_as_its_caller_sees_them(
    live: Opened, plane: Plane, issuer: Issuer
) -> None:
    client, _ = live
    job_ids = await ask_many(client, issuer, 2)
    address = f"/api/flights/ticket?jobs={','.join(job_ids)}"
    issued = (await client.post(address, headers=issuer.bearer())).json()
    for _ in range(2):
        plane.work("1")
    async with client.stream("GET", issued["streamUrl"]) as response:
        told = await Events(response).rest()
        assert [name for name, _, _ in told] == ["done", "done", "end"]
    of_bob = (await client.post(address, headers=issuer.bearer(scope=["JFK"]))).json()
    async with client.stream("GET", of_bob["streamUrl"]) as response:
        told = await Events(response).rest()
        assert [name for name, _, _ in told] == ["error", "error", "end"]
    others = issued["streamUrl"].replace(job_ids[1], "999")
    assert problem(await client.get(others), 401)["code"] == "TICKET_INVALID"


@pytest.mark.parametrize(
    "jobs",
    ["", "?jobs=", "?jobs=x", "?jobs=1,,2", "?jobs=1;2", "?jobs=-1", "?jobs=1.0", "?jobs=１"]
    + ["?jobs=" + "9" * 20, "?jobs=" + ",".join(map(str, range(101)))],
)
async def test_jobs_are_named_by_their_ids(
    client: httpx2.AsyncClient, issuer: Issuer, jobs: str
) -> None:
    for method, address in (("GET", MANY), ("POST", "/api/flights/ticket")):
        refused = await client.request(method, address + jobs, headers=issuer.bearer())
        assert problem(refused, 422)["code"] == "BAD_JOBS"


async def test_a_hundred_jobs_are_not_too_many(
    live: Opened, plane: Plane, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, _ = live
    calls: list[str] = []
    for name in ("register_waiters", "await_jobs"):
        real = getattr(ledger, name)

        async def counted(*args: Any, real: Any = real, name: str = name) -> Any:
            calls.append(name)
            return await real(*args)

        monkeypatch.setattr(ledger, name, counted)
    (job_id,) = await ask_many(client, issuer, 1)
    plane.work("1")
    ids = [job_id, *(str(n) for n in range(10_000, 10_099))]
    async with follow(client, ids, issuer.bearer()) as events:
        assert [name for name, _, _ in await events.rest()] == ["error"] * 99 + ["done", "end"]
    assert set(calls) == {"register_waiters", "await_jobs"}
    assert len(calls) == 2


async def test_a_surface_that_is_none_has_no_stream(
    client: httpx2.AsyncClient, issuer: Issuer
) -> None:
    for method, address in (("GET", "stream?jobs=1"), ("POST", "ticket?jobs=1")):
        refused = await client.request(method, f"/api/crews/{address}", headers=issuer.bearer())
        assert problem(refused, 404)["code"] == "NOT_FOUND"


async def test_an_edge_that_goes_opens_none(edge: Opened, issuer: Issuer) -> None:
    client, parts = edge
    parts.streams.drain(0)
    refused = await client.get(f"{MANY}?jobs=1", headers=issuer.bearer())
    assert problem(refused, 503)["code"] == "SHUTTING_DOWN"
    assert int(refused.headers["Retry-After"]) > 0


async def test_an_outage_while_it_opens_leaves_nothing(
    edge: Opened, plane: Plane, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, parts = edge
    job_ids = await ask_many(client, issuer, 3)

    async def down(*_args: Any) -> Any:
        raise Unavailable("the queue database is unreachable")

    monkeypatch.setattr(ledger, "await_jobs", down)
    refused = await client.get(f"{MANY}?jobs={','.join(job_ids)}", headers=issuer.bearer())
    assert problem(refused, 503)["code"] == "UNAVAILABLE"
    assert (len(parts.pump), len(parts.streams), len(parts.admission.streams)) == (0, 0, 0)


async def test_large_answers_reach_a_client_that_takes_its_time(
    plane: Plane, settings: Settings, issuer: Issuer
) -> None:
    """Twenty answers of almost a MiB: five times what may wait for a client."""
    async with on_a_port(settings) as (client, parts):
        job_ids = await ask_many(client, issuer, 20)
        for n in range(20):
            plane.work(json.dumps([n, "x" * 1_000_000]))
        head = (
            f"GET {MANY}?jobs={','.join(job_ids)} HTTP/1.1\r\nHost: edge\r\nConnection: close\r\n"
            f"Authorization: {issuer.bearer()['Authorization']}\r\n\r\n"
        )
        with socket.socket() as slow:
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
            slow.settimeout(20)
            slow.connect((client.base_url.host, client.base_url.port))
            slow.sendall(head.encode())
            await until(lambda: len(parts.streams) == 1)
            received = bytearray()
            while chunk := await asyncio.to_thread(slow.recv, 1 << 18):
                received += chunk
        assert received.count(b"event: done\n") == 20
        assert received.count(b"event: end\n") == 1
        assert (len(parts.pump), len(parts.streams)) == (0, 0)


PENDING = Job(1, KEY, "pending", None, None, None, None, 3, datetime.now(UTC), None, None)
LARGE = json.dumps("x" * (ROOM + 1)).encode()


class Stalled:
    """A stream of jobs to a client that takes what it is sent one message at a time."""

    def __init__(self, *jobs: Job) -> None:
        self.pump = ReplyPump(QueueDatabase(None, 1), 3600)
        self.streams = Streams()
        self.waiters = {job.job_id: self._waiter(job) for job in jobs}
        self.closed: list[bool] = []
        self.taken: asyncio.Queue[bytes] = asyncio.Queue(1)

    def _waiter(self, job: Job) -> Waiter:
        waiter = Waiter(QUEUE, job.job_id, KEY)
        waiter.offer(job)
        self.pump._waiting[job.job_id].add(waiter)
        return waiter

    def gathering(self, seconds: float = 60) -> Gathering:
        return Gathering(
            self.pump, self.streams, dict(self.waiters), seconds, lambda: self.closed.append(True)
        )

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.body":
            await self.taken.put(message["body"])

    async def serve(self, stream: EventStream) -> None:
        async def receive() -> Message:
            await asyncio.Event().wait()
            raise AssertionError("unreachable")

        await stream({"type": "http", "method": "GET", "path": MANY}, receive, self.send)

    async def read_again(self, job_id: int) -> None:
        """What the pump does once it has been asked for one answer."""
        await until(lambda: bool(self.pump._left))
        assert list(self.pump._left) == [job_id], "one at a time"
        self.pump._left.clear()
        self.waiters[job_id].offer(large(job_id))

    async def told(self) -> list[str]:
        """The names of the events in the next message."""
        async with asyncio.timeout(20):
            message = await self.taken.get()
        lines = message.decode().split("\n")
        return [line.removeprefix("event: ") for line in lines if line.startswith("event: ")]


def large(job_id: int) -> Job:
    return replace(PENDING, job_id=job_id, status="done", position=None, result=LARGE)


async def test_an_answer_without_room_is_let_go_and_read_again() -> None:
    stalled = Stalled(large(1), large(2), large(3))
    serving = asyncio.create_task(stalled.serve(stalled.gathering().begin()))
    assert await stalled.told() == ["done"]
    assert [stalled.waiters[n].job for n in (2, 3)] == [None, None]
    await stalled.read_again(2)
    assert await stalled.told() == ["done"]
    await stalled.read_again(3)
    assert await stalled.told() == ["done", "end"]
    await serving
    assert (stalled.closed, len(stalled.pump), len(stalled.streams)) == ([True], 0, 0)


async def test_answers_that_were_left_out_are_read_one_at_a_time() -> None:
    stalled = Stalled(large(1), large(2))
    for waiter in stalled.waiters.values():
        stalled.pump.detach(waiter)
        waiter.forget()
    serving = asyncio.create_task(stalled.serve(stalled.gathering().begin()))
    assert list(stalled.pump._left) == [1]
    await stalled.read_again(1)
    assert await stalled.told() == ["done"]
    await stalled.read_again(2)
    assert await stalled.told() == ["done", "end"]
    await serving
    assert (stalled.closed, len(stalled.pump), len(stalled.streams)) == ([True], 0, 0)


async def test_who_is_not_told_an_answer_in_time_is_sent_away() -> None:
    """An end that is there is no TIMEOUT: a client that comes back is told it."""
    stalled = Stalled(large(1), large(2))
    serving = asyncio.create_task(stalled.serve(stalled.gathering(seconds=0.01).begin()))
    assert await stalled.told() == ["done"]
    while not serving.done():
        said = await stalled.taken.get()
        assert b"event:" not in said
        await asyncio.sleep(0)
    assert b"retry: " in said
    assert (stalled.closed, len(stalled.pump), len(stalled.streams)) == ([True], 0, 0)


async def test_what_stands_still_is_told_by_its_latest_when_there_is_room() -> None:
    second = replace(PENDING, job_id=2)
    stalled = Stalled(large(1), second)
    serving = asyncio.create_task(stalled.serve(stalled.gathering().begin()))
    for position in (2, 1):
        stalled.waiters[2].offer(replace(second, position=position))
    running = replace(second, status="in_progress", position=None)
    stalled.waiters[2].offer(running)
    assert await stalled.told() == ["done"]
    assert await stalled.told() == ["queued", "running"]
    stalled.waiters[2].offer(replace(running, status="done", result=b"1"))
    assert await stalled.told() == ["done", "end"]
    await serving


async def test_each_job_has_a_deadline_of_its_own() -> None:
    stalled = Stalled(PENDING, replace(PENDING, job_id=2, status="done", result=b"1"))
    serving = asyncio.create_task(stalled.serve(stalled.gathering(seconds=0).begin()))
    told = await stalled.told()
    while told[-1] != "end":
        told += await stalled.told()
    assert told == ["queued", "done", "error", "end"]
    await serving
    assert len(stalled.pump) == 0


async def test_one_that_leaves_lets_go_of_every_job() -> None:
    stalled = Stalled(PENDING, replace(PENDING, job_id=2), large(3), large(4))
    stream = stalled.gathering().begin()
    stream.close()
    stream.close()
    assert (stalled.closed, len(stalled.pump), len(stalled.streams)) == ([True], 0, 0)
    stalled.waiters[1].offer(replace(PENDING, status="done", result=b"1"))


async def test_a_job_that_cannot_be_told_leaves_no_stream_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_args: object) -> bytes:
        raise ValueError("untellable")

    monkeypatch.setattr(tellers, "ending", fail)
    stalled = Stalled(PENDING, large(2))
    with pytest.raises(ValueError, match="untellable"):
        stalled.gathering().begin()
    assert (stalled.closed, len(stalled.pump), len(stalled.streams)) == ([True], 0, 0)
