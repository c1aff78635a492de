"""nginx before the edge, by the file of `deploy/` and by its own defaults.

Where nginx is missing it is skipped, and says what to do.
"""

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic

import httpx2
import pytest

from ..support.browsers import EdgeProcess, edge_process
from ..support.edges import Plane, ask, until
from ..support.issuer import Issuer
from ..support.nginx import BARE, DEPLOYED, Nginx, find_nginx, nginx
from ..support.postgres import ROOT
from ..support.sockets import RawStream, get, raw_stream

pytestmark = pytest.mark.skipif(
    find_nginx() is None, reason="nginx: run tools/ensure-test-tools.sh"
)


@pytest.fixture
def edge(plane: Plane, issuer: Issuer, as_edge: str) -> Iterator[EdgeProcess]:
    """An edge process that hears notifications, and sweeps too seldom to help."""
    with edge_process(
        issuer, queue_url=as_edge, sweep_seconds="3600", grace_seconds="2"
    ) as running:
        running.process.event("listener.ready")
        yield running


@pytest.fixture
def before(edge: EdgeProcess, tmp_path: Path) -> Iterator[Nginx]:
    """nginx before that edge, as deployed."""
    with nginx(tmp_path, edge.port) as running:
        yield running


@pytest.fixture
def before_slow(edge: EdgeProcess, tmp_path: Path) -> Iterator[Nginx]:
    """nginx before that edge, with less patience."""
    with nginx(
        tmp_path, edge.port, client_header_timeout="1s", client_body_timeout="1s"
    ) as running:
        yield running


def client(url: str) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(base_url=url, timeout=30)


async def test_the_documents_show_the_file_that_is_tested() -> None:
    shown = (ROOT / "docs" / "proxy.md").read_text()
    assert f"```nginx\n{DEPLOYED.read_text()}```\n" in shown


@pytest.mark.parametrize("site", [None, BARE], ids=["deployed", "bare"])
async def test_events_arrive_one_by_one(
    edge: EdgeProcess,
    plane: Plane,
    issuer: Issuer,
    tmp_path: Path,
    tell: Callable[[str], None],
    site: str | None,
) -> None:
    with nginx(tmp_path, edge.port, site) as before:
        async with client(before.url) as http:
            asked = await ask(http, issuer)
        began = monotonic()
        async with raw_stream(before.url, asked["streamUrl"]) as stream:
            assert stream.status == 200
            assert "text/event-stream" in stream.head
            assert (await stream.event())[0] == "queued"
            first = monotonic() - began
            job = plane.claim()
            plane.look("select plane.report_progress(%s, %s, 1, 2, 'half')", *job)
            name, data = await stream.event()
            assert (name, json.loads(data)["progress"]) == (
                "running",
                {"done": 1, "total": 2, "message": "half"},
            )
            plane.complete(job, '{"rows": 3}')
            name, data = await stream.event()
            assert (name, json.loads(data)["result"]) == ("done", {"rows": 3})
            with pytest.raises(EOFError):
                await stream.event()
    how = "bare proxy_pass" if site else "deployed"
    tell(f"nginx, {how}: the first event of a stream after {first * 1000:.0f} ms")


async def test_a_large_answer_is_whole(before: Nginx, plane: Plane, issuer: Issuer) -> None:
    result = json.dumps(["é" * 40] * 10_000, ensure_ascii=False)
    async with client(before.url) as http:
        asked = await ask(http, issuer)
        plane.work(result)
        polled = await http.get(asked["statusUrl"], headers=issuer.bearer())
        assert polled.json()["result"] == json.loads(result)
        async with raw_stream(before.url, asked["streamUrl"]) as stream:
            name, data = await stream.event()
            assert (name, json.loads(data)["result"]) == ("done", json.loads(result))


async def test_a_body_that_is_too_large_is_refused(
    before: Nginx, plane: Plane, issuer: Issuer
) -> None:
    async with client(before.url) as http:
        for size in (1_500_000, 10_000_000):
            body = b'{"operation":"airlines","params":{"a":"%s"}}' % (b"x" * size)
            refused = await http.post("/api/flights/q", content=body, headers=issuer.bearer())
            assert refused.status_code == 413
        await ask(http, issuer)
    assert plane.jobs() == 1


async def test_a_client_reconnects_when_its_edge_is_back(
    edge: EdgeProcess, before: Nginx, plane: Plane, issuer: Issuer
) -> None:
    async with client(before.url) as http:
        asked = await ask(http, issuer)
        async with raw_stream(before.url, asked["streamUrl"]) as stream:
            assert (await stream.event())[0] == "queued"
            edge.process.kill()
            with pytest.raises(EOFError):
                await stream.event()
        away = await http.get(asked["statusUrl"], headers=issuer.bearer())
        assert away.status_code == 502
        edge.restart()
        async with raw_stream(
            before.url, asked["streamUrl"], Last_Event_ID=f"{asked['jobId']}.queued"
        ) as stream:
            assert (await stream.event())[0] == "queued"
            plane.work("{}")
            assert (await stream.event())[0] == "done"


async def test_an_edge_that_is_told_to_end_takes_leave_through_nginx(
    edge: EdgeProcess, before: Nginx, issuer: Issuer
) -> None:
    async with client(before.url) as http:
        asked = await ask(http, issuer)
    async with raw_stream(before.url, asked["streamUrl"]) as stream:
        assert (await stream.event())[0] == "queued"
        ending = asyncio.create_task(asyncio.to_thread(edge.process.terminate))
        with pytest.raises(EOFError, match="has ended"):
            await stream.event()
        assert await ending == 0


async def test_heads_and_bodies_that_do_not_come_end_before_the_edge(
    before_slow: Nginx, plane: Plane, issuer: Issuer
) -> None:
    head = get("/api/flights/q/1/stream")[:30]
    body = (
        f"POST /api/flights/q HTTP/1.1\r\nHost: edge\r\nContent-Length: 99\r\n"
        f"Authorization: {issuer.bearer()['Authorization']}\r\n\r\n{{"
    ).encode()
    slow = []
    for begin in (head, body):
        for _ in range(40):
            slow.append(await RawStream.connect(before_slow.url))
            slow[-1].writer.write(begin)
    async with client(before_slow.url) as http:
        await ask(http, issuer)
    await until(lambda: before_slow.access_log.count(" 408 ") == 80)
    assert "upstream=- " in before_slow.access_log
    assert plane.jobs() == 1
    for one in slow:
        one.close()
