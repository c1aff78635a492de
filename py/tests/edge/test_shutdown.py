"""The end of an edge: whatever is under way then, it comes within the grace time."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import httpx2
import pytest

from pgplane.edge.edge import Edge
from pgplane.edge.server import Server, listen, make_server
from pgplane.settings import Settings

from ..support.blobs import answer_with
from ..support.edges import ASK, QUESTION, Plane, ask, on_a_port, ready, until
from ..support.issuer import Issuer

MIB = 1024**2


@contextmanager
def stuck(client: httpx2.AsyncClient, url: str, token: dict[str, str]) -> Iterator[socket.socket]:
    """A client that asks for something, and takes nothing of it."""
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
        one.settimeout(20)
        one.connect((client.base_url.host, client.base_url.port))
        head = (
            f"GET {url} HTTP/1.1\r\nHost: edge\r\nAuthorization: {token['Authorization']}\r\n\r\n"
        )
        one.sendall(head.encode())
        yield one


@asynccontextmanager
async def ending(settings: Settings) -> AsyncIterator[tuple[httpx2.AsyncClient, Edge, Server]]:
    """A server that has ended when the block is left."""
    server = make_server(settings)
    with listen("127.0.0.1", 0) as listening:
        base_url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        async with httpx2.AsyncClient(base_url=base_url, timeout=30) as client:
            await ready(client)
            yield client, server._edge, server
            async with asyncio.timeout(20):
                await serving


def complaints(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What is in the log as an error, or with a traceback."""
    return [
        record.getMessage()
        for record in caplog.records
        if record.levelno >= logging.ERROR or record.exc_info
    ]


async def test_it_waits_for_nobody_longer_than_its_grace_time(
    plane: Plane, settings: Settings, issuer: Issuer, caplog: pytest.LogCaptureFixture
) -> None:
    brief = settings.model_copy(update={"grace_seconds": 1})
    async with ending(brief) as (client, edge, server):
        answered = await ask(client, issuer)
        number = answer_with(plane, b"x" * 16 * MIB)
        download = f"{answered['statusUrl']}/blob/{number}"
        asked = await ask(client, issuer, params={"n": 1})
        many = f"/api/flights/stream?jobs={asked['jobId']}"
        prefer = issuer.bearer() | {"Prefer": "wait=30"}
        question = {**QUESTION, "params": {"n": 2}}
        waiting = asyncio.create_task(client.post(ASK, json=question, headers=prefer))
        streams = [
            asyncio.create_task(client.get(url, headers=issuer.bearer()))
            for url in (asked["streamUrl"], many)
        ]
        with (
            stuck(client, download, issuer.bearer()),
            stuck(client, many, issuer.bearer()),
        ):
            # Everything is under way, and two of the clients take nothing.
            await until(lambda: len(edge.admission.streams) == 4)
            await until(lambda: len(edge.admission.downloads) == 1)
            await until(lambda: len(edge.pump) == 4)
            server.should_exit = True
            assert (await waiting).status_code == 202
            for response in await asyncio.gather(*streams):
                assert response.text.rstrip("\n").rpartition("\n")[2].startswith("retry: ")
    assert [len(one) for one in (edge.admission.streams, edge.admission.waits)] == [0, 0]
    assert (len(edge.admission.downloads), len(edge.pump)) == (0, 0)
    assert complaints(caplog) == []


async def test_a_client_that_is_cut_is_no_fault(
    plane: Plane,
    settings: Settings,
    issuer: Issuer,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pgplane.edge.blobs.downloads.SEND_SECONDS", 0.1)
    async with on_a_port(settings) as (client, edge):
        answered = await ask(client, issuer)
        download = f"{answered['statusUrl']}/blob/{answer_with(plane, b'x' * 16 * MIB)}"
        with stuck(client, download, issuer.bearer()):
            await until(lambda: "without completing" in caplog.text)
        assert len(edge.admission.downloads) == 0
    assert complaints(caplog) == []


def test_what_is_a_fault_stays_one() -> None:
    record = logging.LogRecord("uvicorn.error", logging.ERROR, "", 1, "Exception in", None, None)
    record.exc_info = (ValueError, ValueError("a fault"), None)
    make_server(Settings())
    (cuts,) = logging.getLogger("uvicorn.error").filters
    assert isinstance(cuts, logging.Filter)
    assert cuts.filter(record)
    assert (record.levelno, record.exc_info is None) == (logging.ERROR, False)
