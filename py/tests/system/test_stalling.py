"""Clients that stall half way, at an edge that has room for few: the others get in all the same.

Straight at the edge, where each is let go after the edge's own half minute, and through nginx as
deployed, which has what patience its file says (here less, so that it is seen to end).
"""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest

from ..support.blobs import answer_with
from ..support.browsers import EdgeProcess, edge_process
from ..support.edges import ASK, QUESTION, Plane, ask, until
from ..support.issuer import Issuer
from ..support.nginx import find_nginx, nginx
from ..support.sockets import RawStream
from ..support.wire import Wire, wire

MANY = 100
LARGE = 40
"""MiB, more than all sockets between an edge and a client hold by themselves."""
OTHER = ("acme", "bob@acme.example")

needs_nginx = pytest.mark.skipif(
    find_nginx() is None, reason="nginx: run tools/ensure-test-tools.sh"
)
either = pytest.mark.parametrize(
    "way", ["edge", pytest.param("nginx", marks=needs_nginx)], indirect=True
)
either_in_its_time = pytest.mark.parametrize(
    "way",
    [pytest.param("edge", marks=pytest.mark.long), pytest.param("nginx", marks=needs_nginx)],
    indirect=True,
)


@dataclass(frozen=True)
class Door:
    """Where an edge is reached: by those who behave, and over a wire by those who do not."""

    edge: EdgeProcess
    http: httpx2.AsyncClient
    line: Wire

    def sockets(self) -> int:
        """How many sockets the edge has open."""
        folder = Path(f"/proc/{self.edge.process.process.pid}/fd")
        return sum(str(fd.readlink()).startswith("socket:") for fd in folder.iterdir())


@pytest.fixture
def way(request: pytest.FixtureRequest) -> str:
    named: str = request.param
    return named


@pytest.fixture
def stream_seconds() -> str:
    """How long a stream waits: longer than any test here."""
    return "300"


@pytest.fixture
def max_streams() -> str:
    """How many streams and waits have a place."""
    return "1"


@pytest.fixture
async def door(
    plane: Plane,
    issuer: Issuer,
    as_edge: str,
    tmp_path: Path,
    way: str,
    stream_seconds: str,
    max_streams: str,
) -> AsyncIterator[Door]:
    """An edge with one pooled connection, and a place for one download."""
    plane.look("select plane.create_queue('surface-flights', p_lease => '1 hour')")
    with edge_process(
        issuer,
        queue_url=as_edge,
        pool_size="1",
        max_downloads="1",
        max_streams=max_streams,
        stream_seconds=stream_seconds,
        stream_heartbeat_seconds="0.5",
    ) as edge:
        edge.process.event("listener.ready")
        async with AsyncExitStack() as stack:
            port = edge.port
            if way == "nginx":
                port = stack.enter_context(nginx(tmp_path, port, send_timeout="1s")).port
            line = await stack.enter_async_context(wire(port))
            base_url = f"http://127.0.0.1:{port}"
            http = httpx2.AsyncClient(base_url=base_url, timeout=30)
            yield Door(edge, await stack.enter_async_context(http), line)


async def answered(door: Door, plane: Plane, issuer: Issuer, number: int = 0) -> None:
    """Somebody else asks, and is told the answer by a poll."""
    question = QUESTION | {"params": {"other": number}}
    headers = issuer.bearer(*OTHER)
    asked = await door.http.post(ASK, json=question, headers=headers)
    assert asked.status_code == 202
    plane.work('"here"')
    polled = await door.http.get(asked.json()["statusUrl"], headers=headers)
    assert polled.json()["result"] == "here"


@either
async def test_bodies_that_trickle_keep_nobody_out(
    door: Door, plane: Plane, issuer: Issuer, way: str
) -> None:
    await answered(door, plane, issuer)
    before = door.sockets()
    head = (
        f"POST {ASK} HTTP/1.1\r\nHost: edge\r\nContent-Length: 100000\r\n"
        f"Authorization: {issuer.bearer()['Authorization']}\r\n\r\n"
    ).encode()
    slow = [await RawStream.connect(door.line.url) for _ in range(MANY)]
    for one in slow:
        one.writer.write(head)
    await until(lambda: door.line.carried["up"] == MANY * len(head))
    door.line.trickle(1, 0.2)
    for one in slow:
        one.writer.write(b'{"operation": "airlines", "params": {"a": "' + b"a" * 1000)
    await until(lambda: door.line.carried["up"] >= MANY * (len(head) + 2))
    for number in range(1, 5):
        await answered(door, plane, issuer, number)
    assert door.line.carried["up"] < MANY * (len(head) + 1000)
    assert plane.jobs() == 5
    if way == "edge":
        assert door.sockets() >= before + MANY, "which is why there is a proxy"
    else:
        assert door.sockets() <= before + 1, "what is not whole has not reached the edge"
    for one in slow:
        one.close()


@either_in_its_time
async def test_a_stream_that_is_not_read_gives_its_place_to_another(
    door: Door, plane: Plane, issuer: Issuer
) -> None:
    jobs = [(await ask(door.http, issuer, params={"n": n}))["jobId"] for n in range(LARGE)]
    ids = ",".join(jobs)
    held = plane.look("select job_id, attempt from plane.claim('surface-flights', 't', %s)", LARGE)
    path = f"/api/flights/stream?jobs={ids}"
    frozen = await RawStream.open(door.line.url, path, **issuer.bearer())
    assert (await frozen.event())[0] == "queued"
    door.line.hold()
    for job in held:
        plane.complete(job, json.dumps("x" * 1_000_000))
    await answered(door, plane, issuer)

    async def others_get_in() -> bool:
        stream = await RawStream.open(
            str(door.http.base_url), f"/api/flights/q/{jobs[0]}/stream", **issuer.bearer()
        )
        stream.close()
        assert stream.status in (200, 503)
        return stream.status == 200

    await until(others_get_in, 60)
    door.line.release()
    assert await frozen.over() == "the stream broke"
    assert door.line.carried["down"] < LARGE * 1_000_000
    frozen.close()


@either_in_its_time
async def test_a_download_that_is_not_read_gives_its_place_to_another(
    door: Door, plane: Plane, issuer: Issuer
) -> None:
    data = bytes(range(256)) * 4096 * LARGE
    asked = await ask(door.http, issuer)
    path = f"{asked['statusUrl']}/blob/{answer_with(plane, data)}"
    frozen = await RawStream.open(door.line.url, path, **issuer.bearer())
    assert frozen.status == 200
    door.line.hold()
    await answered(door, plane, issuer)

    async def others_get_in() -> bool:
        whole = await door.http.get(path, headers=issuer.bearer(*OTHER))
        assert whole.status_code in (200, 503)
        return whole.content == data

    await until(others_get_in, 60)
    door.line.release()
    frozen.close()


@either
@pytest.mark.parametrize(("stream_seconds", "max_streams"), [("5", "2")])
async def test_peers_that_have_vanished_give_their_places_to_others(
    door: Door, plane: Plane, issuer: Issuer
) -> None:
    """Nobody says that they have gone, and all that is sent to them is taken."""
    url = str(door.http.base_url)
    asked = await ask(door.http, issuer)
    stream = await RawStream.open(door.line.url, asked["streamUrl"])
    assert (await stream.event())[0] == "queued"
    body = json.dumps(QUESTION | {"params": {"waits": True}})
    waits = await RawStream.connect(door.line.url)
    waits.writer.write(
        f"POST {ASK} HTTP/1.1\r\nHost: edge\r\nPrefer: wait=60\r\nContent-Length: {len(body)}\r\n"
        f"Authorization: {issuer.bearer()['Authorization']}\r\n\r\n{body}".encode()
    )
    awaited = (
        "select from plane.waiter w join plane.jobs j on j.id = w.job_id where j.params ? 'waits'"
    )
    await until(lambda: bool(plane.look(awaited)))
    door.line.swallow()

    async def may_wait() -> bool:
        headers = issuer.bearer(*OTHER) | {"Prefer": "wait=0"}
        answer = await door.http.post(ASK, json=QUESTION, headers=headers)
        return "Preference-Applied" in answer.headers

    async def two_get_in() -> bool:
        other = await RawStream.open(url, asked["streamUrl"])
        try:
            return other.status == 200 and await may_wait()
        finally:
            other.close()

    assert not await may_wait(), "both places are taken"
    for gone in (stream, waits):
        gone.close()
    await until(two_get_in)
