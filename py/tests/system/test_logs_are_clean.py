"""No token and no ticket is in any log: neither in the edge's nor in those of nginx, as deployed.

Each test runs a second time with the errors of nginx logged, and finds tickets there: it can.
"""

import asyncio
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import httpx2
import pytest

from ..support.blobs import answer_with
from ..support.browsers import EdgeProcess, edge_process
from ..support.edges import ASK, QUESTION, Plane, ask, until
from ..support.issuer import Issuer
from ..support.nginx import DEPLOYED, Nginx, find_nginx, nginx
from ..support.sockets import RawStream

pytestmark = pytest.mark.skipif(
    find_nginx() is None, reason="nginx: run tools/ensure-test-tools.sh"
)

CONNECTIONS = 12


@pytest.fixture
def edge(plane: Plane, issuer: Issuer, as_edge: str) -> Iterator[EdgeProcess]:
    """An edge process that says all it has to say."""
    with edge_process(issuer, queue_url=as_edge, log_level="debug") as running:
        running.process.event("listener.ready")
        yield running


class Visits:
    """Requests through nginx, as plain EventSources and links make them: by their address."""

    def __init__(self, before: Nginx) -> None:
        self._before = before
        self._open: list[RawStream] = []
        self.made = 0

    async def __call__(self, path: str, status: int, **headers: str) -> RawStream:
        """Visit it, and stay."""
        visit = await RawStream.open(self._before.url, path, **headers)
        self._open.append(visit)
        self.made += 1
        assert visit.status == status, (path, visit.head)
        return visit

    async def briefly(self, path: str, status: int, **headers: str) -> None:
        """Visit it, and leave."""
        (await self(path, status, **headers)).close()

    async def aclose(self) -> None:
        for visit in self._open:
            visit.close()


def logs_in(folder: Path) -> str:
    """All that was logged there."""
    return "".join(path.read_text() for path in folder.rglob("*.log"))


async def test_garbage_at_the_edge_is_not_logged(
    edge: EdgeProcess, plane: Plane, issuer: Issuer
) -> None:
    """What no parser takes is where a careless log would have it all."""
    token = issuer.token()
    async with edge.connections() as http:
        path = (await ask(http, issuer))["streamUrl"]
        for head in (
            f"GET {path} HTTP/9.9\r\nAuthorization: Bearer {token}\r\n\r\n",
            f"GET {path} HTTP/1.1\r\nAuthorization: Bearer {token}\r\nContent-Length: x\r\n\r\n",
            f"G\0T {path} HTTP/1.1\r\nAuthorization: Bearer {token}\r\n\r\n",
            f"GET {path} HTTP/1.1\r\nAuthorization: Bearer {token}\r\nno header\r\n\r\n",
        ):
            stream = await RawStream.connect(edge.url)
            stream.writer.write(head.encode())
            answer = await asyncio.wait_for(stream.reader.read(), 20)
            stream.close()
            assert answer.startswith(b"HTTP/1.1 400 ")
    assert edge.process.terminate() == 0
    said = "".join(edge.process.said)
    assert said.count("Invalid HTTP request received.") == 4
    assert path.partition("ticket=")[2] not in said
    assert token.rpartition(".")[2] not in said


@pytest.mark.parametrize("quiet", [True, False], ids=["deployed", "with errors logged"])
async def test_a_session_leaves_no_secret_in_any_log(
    edge: EdgeProcess, plane: Plane, issuer: Issuer, tmp_path: Path, quiet: bool
) -> None:
    site = DEPLOYED.read_text()
    if not quiet:
        site = site.replace("error_log /dev/null emerg;", "")
    tokens = {
        "good": issuer.token(),
        "expired": issuer.token(exp=1_000_000_000),
        "of a stranger": Issuer().token(),
        "for another surface": issuer.token(surfaces=["elsewhere"]),
    }
    ann = {"Authorization": f"Bearer {tokens['good']}"}
    with nginx(tmp_path, edge.port, site, limit_conn=f"pgplane_clients {CONNECTIONS}") as before:
        async with (
            httpx2.AsyncClient(base_url=before.url, timeout=30) as http,
            aclosing(Visits(before)) as visit,
        ):

            async def asked(number: int) -> tuple[str, str]:
                question = QUESTION | {"params": {"n": number}}
                body = (await http.post(ASK, json=question, headers=ann)).json()
                return body["statusUrl"], body["streamUrl"]

            for name, status in (
                ("expired", 401),
                ("of a stranger", 401),
                ("for another surface", 403),
            ):
                header = {"Authorization": f"Bearer {tokens[name]}"}
                assert (await http.post(ASK, json=QUESTION, headers=header)).status_code == status
            ended, ended_stream = await asked(1)
            number = answer_with(plane, b"a" * 100_000)
            pending, stream = await asked(2)
            given = (await http.post(f"{ended}/ticket", headers=ann)).json()
            job_ids = f"{ended.rpartition('/')[2]},{pending.rpartition('/')[2]}"
            of_many = await http.post(f"/api/flights/ticket?jobs={job_ids}", headers=ann)
            many = of_many.json()["streamUrl"]
            tickets = {
                "of the question": ended_stream.partition("ticket=")[2],
                "of the pending question": stream.partition("ticket=")[2],
                "of a stream": given["streamUrl"].partition("ticket=")[2],
                "of blobs": given["blobTicket"],
                "of many jobs": of_many.json()["streamUrl"].partition("ticket=")[2],
            }
            blob = f"{ended}/blob/{number}"

            # What each of them opens.
            assert (await http.get(pending, headers=ann)).status_code == 200
            assert (await http.get(blob, headers=ann)).status_code == 200
            await visit.briefly(ended_stream, 200)
            await visit.briefly(given["streamUrl"], 200)
            await visit.briefly(f"{blob}?ticket={tickets['of blobs']}", 200)
            await visit.briefly(f"{blob}?ticket={tickets['of blobs']}", 206, Range="bytes=5-9")
            # What none of them opens, and where none belongs.
            for ticket in tickets.values():
                await visit.briefly(f"{pending}?ticket={ticket}", 401)
                await visit.briefly(f"/api/flights/nowhere?ticket={ticket}", 404)
                await visit.briefly(f"/api/nowhere/q/1/stream?ticket={ticket}", 401)
            await visit.briefly(f"{pending}/stream?ticket={tickets['of a stream']}", 401)
            await visit.briefly(f"{pending}/stream?ticket={tickets['of many jobs']}", 401)
            await visit.briefly(f"{blob}?ticket={tickets['of a stream']}", 401)
            await visit.briefly(f"{pending}/stream?ticket=x{tickets['of a stream']}", 401)
            await visit.briefly(f"{pending}/stream?access_token={tokens['good']}", 401)

            # More than one may have open; then the edge dies, and everything is tried again.
            stay = [
                await visit(path, 200, Referer=f"{before.url}{stream}")
                for path in [stream, many] * (CONNECTIONS // 2)
            ]
            for one in stay:
                assert (await one.event())[0] in ("queued", "done")
            await visit.briefly(stream, 429)
            edge.process.kill()
            for one in stay:
                await one.over()
            downloaded = f"{blob}?ticket={tickets['of blobs']}"
            for path in (stream, ended_stream, given["streamUrl"], many, downloaded):
                await visit.briefly(path, 502, Authorization=ann["Authorization"])
            assert (await http.post(ASK, json=QUESTION, headers=ann)).status_code == 502
            edge.restart()
            await visit.briefly(stream, 200)
        await until(lambda: before.access_log.count("\n") >= visit.made)
        logs = logs_in(tmp_path) + "".join(edge.process.said)
    assert (pending + "/stream") in logs
    for status in (200, 206, 401, 403, 404, 429, 502):
        assert f'" {status} ' in logs
    for name, token in tokens.items():
        assert token.rpartition(".")[2] not in logs, f"the token {name}"
    assert ("ticket=" in logs) is not quiet
    found = {name for name, ticket in tickets.items() if ticket[-40:] in logs}
    assert found == (set() if quiet else set(tickets))


@pytest.mark.parametrize("quiet", [True, False], ids=["deployed", "with errors logged"])
async def test_no_log_has_a_ticket_when_nginx_is_out_of_connections(
    edge: EdgeProcess, issuer: Issuer, tmp_path: Path, quiet: bool
) -> None:
    """That is an alert, which no level of a log but the very last leaves out."""
    site = DEPLOYED.read_text()
    if not quiet:
        site = site.replace("error_log /dev/null emerg;", "error_log alert.log alert;")
    with nginx(tmp_path, edge.port, site, connections=7) as before:
        async with httpx2.AsyncClient(base_url=before.url, timeout=30) as http:
            asked = await ask(http, issuer)
        streams = [await RawStream.open(before.url, asked["streamUrl"]) for _ in range(3)]
        assert [stream.status for stream in streams] == [200, 200, 500]
        for stream in streams:
            stream.close()
        logs = logs_in(tmp_path)
    assert ("ticket=" in logs) is not quiet
