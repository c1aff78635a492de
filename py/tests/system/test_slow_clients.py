"""Clients that do not read, or are gone without a word: straight at the edge, and through nginx."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest

from pgplane.edge.edge import Edge
from pgplane.settings import Settings

from ..support.edges import Plane, ask, on_a_port, until
from ..support.issuer import Issuer
from ..support.nginx import find_nginx, nginx
from ..support.sockets import RawStream, get, raw_stream
from ..support.wire import Wire, wire

MANY = 40


@dataclass(frozen=True)
class Door:
    """Where an edge is reached: by those who behave, and over a wire by those who do not."""

    edge: Edge
    http: httpx2.AsyncClient
    line: Wire

    @property
    def url(self) -> str:
        return str(self.http.base_url)

    @property
    def idle(self) -> bool:
        """Whether the edge holds no stream and waits for no job."""
        return (len(self.edge.pump), len(self.edge.streams)) == (0, 0)


@pytest.fixture
def seconds() -> float:
    """How long a stream waits: longer than any test here."""
    return 300


@pytest.fixture(
    params=[
        "edge",
        pytest.param(
            "nginx",
            marks=pytest.mark.skipif(
                find_nginx() is None, reason="nginx: run tools/ensure-test-tools.sh"
            ),
        ),
    ]
)
async def door(
    request: pytest.FixtureRequest,
    plane: Plane,
    settings: Settings,
    seconds: float,
    tmp_path: Path,
) -> AsyncIterator[Door]:
    brief = settings.model_copy(update={"stream_seconds": seconds, "stream_heartbeat_seconds": 0.5})
    async with on_a_port(brief) as (direct, edge):
        port = direct.base_url.port
        assert port is not None
        if request.param == "edge":
            async with wire(port) as line:
                yield Door(edge, direct, line)
        else:
            with nginx(tmp_path, port) as before:
                base_url = before.url
                async with (
                    wire(before.port) as line,
                    httpx2.AsyncClient(base_url=base_url, timeout=30) as http,
                ):
                    yield Door(edge, http, line)


@pytest.mark.parametrize("seconds", [3.0])
async def test_clients_that_are_gone_without_a_word_are_let_go_at_the_deadline(
    door: Door, plane: Plane, issuer: Issuer
) -> None:
    asked = await ask(door.http, issuer)
    gone = [await RawStream.open(door.line.url, asked["streamUrl"]) for _ in range(MANY)]
    for stream in gone:
        assert (await stream.event())[0] == "queued"
    assert len(door.edge.streams) == MANY
    door.line.swallow()
    for stream in gone:
        stream.close()
    async with raw_stream(door.url, asked["streamUrl"]) as another:
        assert (await another.event())[0] == "queued"
    await until(lambda: door.idle)


async def test_requests_that_never_end_keep_nobody_out(
    door: Door, plane: Plane, issuer: Issuer
) -> None:
    door.line.trickle(1, 0.2)
    slow = [await RawStream.connect(door.line.url) for _ in range(MANY)]
    for one in slow:
        one.writer.write(get("/api/flights/q/1/stream"))
    asked = await ask(door.http, issuer)
    async with raw_stream(door.url, asked["streamUrl"]) as stream:
        assert (await stream.event())[0] == "queued"
        plane.work("{}")
        assert (await stream.event())[0] == "done"
    assert 0 < door.line.carried["up"] < MANY * len(get("/api/flights/q/1/stream"))
    assert door.line.carried["down"] == 0
    for one in slow:
        one.close()


async def test_a_client_that_reads_a_trickle_holds_up_nobody_else(
    door: Door, plane: Plane, issuer: Issuer
) -> None:
    asked = await ask(door.http, issuer)
    slow = await RawStream.open(door.line.url, asked["streamUrl"])
    assert (await slow.event())[0] == "queued"
    door.line.trickle(1, 3600)
    async with raw_stream(door.url, asked["streamUrl"]) as quick:
        assert (await quick.event())[0] == "queued"
        plane.work("{}")
        assert (await quick.event())[0] == "done"
    await until(lambda: door.idle)
    door.line.release()
    assert (await slow.event())[0] == "done"
    slow.close()


async def test_a_client_that_leaves_frees_its_stream(door: Door, issuer: Issuer) -> None:
    asked = await ask(door.http, issuer)
    leaving = [await RawStream.open(door.url, asked["streamUrl"]) for _ in range(MANY)]
    for stream in leaving:
        assert (await stream.event())[0] == "queued"
    for stream in leaving:
        stream.close()
    await until(lambda: door.idle)
