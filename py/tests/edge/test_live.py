"""Streams over a real server: from the question to the answer, and every way in which one ends."""

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest

from pgplane import ledger
from pgplane.edge import questions, server
from pgplane.edge.edge import Edge
from pgplane.edge.server import AddressError, listen
from pgplane.settings import Settings

from ..support.edges import Plane, ask, on_a_port, ready, running, until
from ..support.issuer import Issuer

Opened = tuple[httpx2.AsyncClient, Edge]


@pytest.fixture
def settings(issuer: Issuer, as_edge: str) -> Settings:
    return issuer.settings(queue_url=as_edge, grace_seconds=2)


@pytest.fixture
async def edge(plane: Plane, settings: Settings) -> AsyncIterator[Opened]:
    async with on_a_port(settings) as opened:
        yield opened


class Events:
    """The events of one stream, as an EventSource would see them."""

    def __init__(self, response: httpx2.Response) -> None:
        self.response = response
        self._events = httpx2.EventSource(response).__aiter__()

    async def next(self) -> tuple[str, Any]:
        """Name and data of the next event."""
        async with asyncio.timeout(20):
            event = await anext(self._events)
        return event.event, json.loads(event.data)

    async def rest(self) -> list[str]:
        """The names of the events until the stream ends."""
        async with asyncio.timeout(20):
            return [event.event async for event in self._events]


@asynccontextmanager
async def follow(
    client: httpx2.AsyncClient, url: str, headers: dict[str, str] | None = None
) -> AsyncIterator[Events]:
    async with client.stream("GET", url, headers=headers) as response:
        assert response.status_code == 200
        yield Events(response)


async def test_an_answer_streams_back(edge: Opened, plane: Plane, issuer: Issuer) -> None:
    client, parts = edge
    asked = await ask(client, issuer)
    async with follow(client, asked["streamUrl"]) as events:
        assert events.response.headers["Content-Type"].startswith("text/event-stream")
        assert events.response.headers["Cache-Control"] == "no-store, no-transform"
        name, data = await events.next()
        assert (name, data["jobId"], data["status"]) == ("queued", asked["jobId"], "pending")
        plane.work('{"rows": [{"carrier": "UA"}]}')
        name, data = await events.next()
        assert (name, data["result"]) == ("done", {"rows": [{"carrier": "UA"}]})
        assert data["cache"] is None
        assert data["times"]["finished"]
        assert await events.rest() == []
    assert (len(parts.pump), len(parts.streams)) == (0, 0)


async def test_the_bytes_of_a_result_are_not_touched(
    edge: Opened, plane: Plane, issuer: Issuer
) -> None:
    client, _ = edge
    result = '{"id": 9223372036854775808123,"price":1.10 , "e":1E+2, "s":"\\u00e9é\\n\\r"}'
    asked = await ask(client, issuer)
    plane.work(result)
    response = await client.get(asked["streamUrl"])
    (line,) = [line for line in response.content.split(b"\n") if line.startswith(b"data: ")]
    assert b'"result":' + result.encode() + b"," in line


async def test_a_finished_job_answers_at_once_and_its_end_is_204(
    edge: Opened, plane: Plane, issuer: Issuer
) -> None:
    client, _ = edge
    asked = await ask(client, issuer)
    plane.work("1")
    async with follow(client, asked["streamUrl"]) as events:
        assert (await events.next())[0] == "done"
        assert await events.rest() == []
    last = {"Last-Event-ID": f"{asked['jobId']}.end"}
    assert (await client.get(asked["streamUrl"], headers=last)).status_code == 204
    earlier = {"Last-Event-ID": f"{asked['jobId']}.queued"}
    assert (await client.get(asked["streamUrl"], headers=earlier)).status_code == 200


async def test_a_header_opens_a_stream_too(edge: Opened, plane: Plane, issuer: Issuer) -> None:
    client, _ = edge
    asked = await ask(client, issuer, "mine")
    async with follow(client, f"{asked['statusUrl']}/stream", issuer.bearer()) as events:
        assert (await events.next())[0] == "queued"
        plane.work("{}")
        assert (await events.next())[0] == "done"


async def test_a_held_job_is_seen_running(edge: Opened, plane: Plane, issuer: Issuer) -> None:
    client, _ = edge
    asked = await ask(client, issuer)
    job = plane.claim()
    async with follow(client, asked["streamUrl"]) as events:
        assert (await events.next())[0] == "queued"
        name, data = await events.next()
        assert (name, data["status"]) == ("running", "in_progress")
        plane.complete(job, "{}")
        assert await events.rest() == ["done"]


async def test_progress_streams_as_it_is_reported(
    edge: Opened, plane: Plane, issuer: Issuer
) -> None:
    client, _ = edge
    asked = await ask(client, issuer)
    job = plane.claim()
    async with follow(client, asked["streamUrl"]) as events:
        assert (await events.next())[0] == "queued"
        name, data = await events.next()
        assert (name, data["progress"]) == ("running", None)
        plane.look("select plane.report_progress(%s, %s, 1, 2, 'half')", *job)
        name, data = await events.next()
        assert (name, data["progress"]) == (
            "progress",
            {"done": 1, "total": 2, "message": "half"},
        )
        plane.look("select plane.report_progress(%s, %s, 2, 2, null)", *job)
        name, data = await events.next()
        assert (name, data["progress"]["done"], data["status"]) == ("progress", 2, "in_progress")
        plane.complete(job, "{}")
        assert await events.rest() == ["done"]


async def test_a_cancelled_job_ends_its_stream(edge: Opened, plane: Plane, issuer: Issuer) -> None:
    client, _ = edge
    asked = await ask(client, issuer)
    async with follow(client, asked["streamUrl"]) as events:
        assert (await events.next())[0] == "queued"
        plane.look("select plane.request_cancel(%s, 'ann of support')", asked["jobId"])
        name, problem = await events.next()
        assert (name, problem["code"], problem["status"]) == ("error", "CANCELLED", 409)
        assert "ann" not in json.dumps(problem)


async def test_the_sweep_sees_a_job_start(plane: Plane, settings: Settings, issuer: Issuer) -> None:
    async with on_a_port(settings.model_copy(update={"sweep_seconds": 0.05})) as (client, _):
        asked = await ask(client, issuer)
        async with follow(client, asked["streamUrl"]) as events:
            assert (await events.next())[0] == "queued"
            plane.claim()
            assert (await events.next())[0] == "running"


async def test_a_refusal_is_an_error_event(edge: Opened, plane: Plane, issuer: Issuer) -> None:
    client, _ = edge
    asked = await ask(client, issuer)
    message = "a\r\n\r\nevent: done\r\ndata: forged\n\n"
    refusal = {"status": 404, "code": "NO_FLIGHT", "message": message}
    plane.complete(plane.claim(), error=json.dumps(refusal))
    async with follow(client, asked["streamUrl"]) as events:
        name, problem = await events.next()
        assert name == "error"
        assert (problem["status"], problem["code"]) == (404, "NO_FLIGHT")
        assert problem["detail"] == message
        assert problem["jobId"] == asked["jobId"]
        assert await events.rest() == []


async def test_poison_ends_a_stream(edge: Opened, plane: Plane, issuer: Issuer) -> None:
    client, _ = edge
    plane.surface(max_dequeues=1)
    asked = await ask(client, issuer)
    async with follow(client, asked["streamUrl"]) as events:
        await events.next()
        failure = json.dumps({"message": "inside"})
        plane.look("select plane.fail_job(%s, %s, %s::json)", *plane.claim(), failure)
        name, problem = await events.next()
        assert (name, problem["code"], problem["status"]) == ("error", "POISON", 500)
        assert "inside" not in json.dumps(problem)


async def test_the_deadline_ends_the_stream_and_not_the_job(
    plane: Plane, settings: Settings, issuer: Issuer
) -> None:
    brief = settings.model_copy(update={"stream_seconds": 0.2})
    async with on_a_port(brief) as (client, parts):
        asked = await ask(client, issuer)
        async with follow(client, asked["streamUrl"]) as events:
            assert (await events.next())[0] == "queued"
            name, problem = await events.next()
            assert (name, problem["code"], problem["status"]) == ("error", "TIMEOUT", 504)
            assert await events.rest() == []
        assert len(parts.pump) == 0
        plane.work('{"late": true}')
        poll = await client.get(asked["statusUrl"], headers=issuer.bearer())
        assert poll.json()["result"] == {"late": True}


async def test_a_missed_notification_costs_a_sweep(
    plane: Plane, settings: Settings, issuer: Issuer
) -> None:
    plane.surface(notify="never")
    async with on_a_port(settings.model_copy(update={"sweep_seconds": 0.1})) as (client, _):
        asked = await ask(client, issuer)
        async with follow(client, asked["streamUrl"]) as events:
            await events.next()
            plane.work("{}")
            assert (await events.next())[0] == "done"


async def test_a_lost_listener_reads_again_when_it_is_back(
    plane: Plane, settings: Settings, issuer: Issuer
) -> None:
    async with on_a_port(settings.model_copy(update={"sweep_seconds": 3600})) as (client, _):
        asked = await ask(client, issuer)
        async with follow(client, asked["streamUrl"]) as events:
            await events.next()
            killed = plane.look(
                "select pg_terminate_backend(pid, 5000) from pg_stat_activity"
                " where datname = current_database() and application_name = 'pgplane edge listener'"
            )
            assert killed == [(True,)]
            plane.work("{}")
            assert (await events.next())[0] == "done"


async def test_open_streams_hold_no_connection_and_share_a_read(
    plane: Plane, settings: Settings, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[int] = []
    read = ledger.get_results

    async def counted(connection: Any, queue: str, wanted: Any, max_bytes: int) -> Any:
        reads.append(len(wanted))
        return await read(connection, queue, wanted, max_bytes)

    monkeypatch.setattr(ledger, "get_results", counted)
    alone = settings.model_copy(update={"pool_size": 1, "sweep_seconds": 3600})
    async with on_a_port(alone) as (client, parts):
        asked = [await ask(client, issuer, params={"n": n}) for n in range(30)]

        async def answer(url: str) -> tuple[str, Any]:
            async with follow(client, url) as events:
                assert (await events.next())[0] == "queued"
                return await events.next()

        answers = [asyncio.create_task(answer(one["streamUrl"])) for one in asked]
        await until(lambda: len(parts.pump) == 30)
        await ask(client, issuer, params={"n": "more"})
        plane.look(
            "select plane.complete_job(job_id, attempt, '{}')"
            " from plane.claim('surface-flights', 'tester', 30)"
        )
        assert {name for name, _ in await asyncio.gather(*answers)} == {"done"}
        assert sum(reads) <= 30
        assert len(reads) <= 2


async def test_a_client_that_leaves_frees_everything(edge: Opened, issuer: Issuer) -> None:
    client, parts = edge
    asked = await ask(client, issuer)
    async with follow(client, asked["streamUrl"]) as events:
        await events.next()
        assert (len(parts.pump), len(parts.streams)) == (1, 1)
    await until(lambda: (len(parts.pump), len(parts.streams)) == (0, 0))


async def test_a_caller_that_waits_is_told_where_its_answer_will_be_when_the_edge_goes(
    plane: Plane, settings: Settings, issuer: Issuer
) -> None:
    headers = issuer.bearer() | {"Prefer": "wait=50"}
    question = {"operation": "airlines", "params": {}}
    leaving = server.make_server(settings)
    app: Any = leaving.config.app
    with listen("127.0.0.1", 0) as listening:
        base_url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        async with httpx2.AsyncClient(base_url=base_url, timeout=30) as client:
            async with running(leaving, listening):
                asking = client.post("/api/flights/q", json=question, headers=headers)
                asked = asyncio.create_task(asking)
                await until(lambda: len(app.state.edge.pump) == 1)
            response = await asked
    assert response.status_code == 202
    assert response.json()["streamUrl"]


async def test_a_client_that_leaves_while_it_asks_is_no_fault(
    edge: Opened, plane: Plane, issuer: Issuer, capsys: pytest.CaptureFixture[str]
) -> None:
    client, _ = edge
    token = issuer.bearer()["Authorization"]
    address = client.base_url
    heard, leaving = await asyncio.open_connection(address.host, address.port)
    head = f"POST /api/flights/q HTTP/1.1\r\nHost: edge\r\nAuthorization: {token}\r\n"
    leaving.write(f"{head}Content-Length: 99\r\nExpect: 100-continue\r\n\r\n{{".encode())
    assert b" 100 " in await heard.readuntil(b"\r\n\r\n"), "it reads the body"
    leaving.close()
    await leaving.wait_closed()
    await ask(client, issuer)
    assert "request.crashed" not in "".join(capsys.readouterr())


async def test_head_ends(edge: Opened, issuer: Issuer) -> None:
    client, parts = edge
    asked = await ask(client, issuer)
    response = await client.head(asked["streamUrl"])
    assert response.status_code == 200
    assert response.headers["Content-Type"].startswith("text/event-stream")
    assert response.content == b""
    assert (len(parts.pump), len(parts.streams)) == (0, 0)
    missing = await client.head("/api/flights/q/999/stream", headers=issuer.bearer())
    assert missing.status_code == 404


async def test_an_idle_stream_is_kept_alive(
    plane: Plane, settings: Settings, issuer: Issuer
) -> None:
    async with on_a_port(settings.model_copy(update={"stream_heartbeat_seconds": 0.1})) as (
        client,
        _,
    ):
        asked = await ask(client, issuer)
        async with client.stream("GET", asked["streamUrl"]) as response:
            received = b""
            async for chunk in response.aiter_bytes():
                received += chunk
                if received.endswith(b":\n\n:\n\n"):
                    break
        assert received.startswith(b"retry: ")


async def test_a_10_mb_body_is_refused_over_the_wire(
    edge: Opened, plane: Plane, issuer: Issuer
) -> None:
    client, _ = edge
    body = b'{"operation":"airlines","params":{"a":"%s"}}' % (b"x" * 10_000_000)
    response = await client.post("/api/flights/q", content=body, headers=issuer.bearer())
    assert response.status_code == 413
    assert response.headers["Content-Type"] == "application/problem+json"
    assert plane.jobs() == 0
    await ask(client, issuer)


@pytest.mark.parametrize("start", [b"", b'{"operation":'])
async def test_a_body_that_does_not_come_is_refused_and_its_connection_closed(
    edge: Opened, plane: Plane, issuer: Issuer, monkeypatch: pytest.MonkeyPatch, start: bytes
) -> None:
    monkeypatch.setattr(questions, "BODY_SECONDS", 0.2)
    client, _ = edge
    address = client.base_url
    reader, writer = await asyncio.open_connection(address.host, address.port)
    token = issuer.bearer()["Authorization"]
    head = f"POST /api/flights/q HTTP/1.1\r\nHost: edge\r\nAuthorization: {token}\r\n"
    writer.write(f"{head}Content-Length: 99\r\n\r\n".encode() + start)
    answer = await asyncio.wait_for(reader.read(), 20)
    writer.close()
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"connection: close" in answer.lower()
    assert b'"code":"SLOW_BODY"' in answer
    assert plane.jobs() == 0
    await ask(client, issuer)


async def test_a_client_that_stops_reading_is_dropped(
    plane: Plane, settings: Settings, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "STUCK_CLIENT_MS", 300)
    async with on_a_port(settings.model_copy(update={"stream_heartbeat_seconds": 0.1})) as (
        client,
        parts,
    ):
        asked = await ask(client, issuer)
        plane.work(json.dumps("x" * 900_000))
        address = client.base_url
        with socket.create_connection((address.host, address.port)) as stuck:
            stuck.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            for _ in range(20):
                request = f"GET {asked['streamUrl']} HTTP/1.1\r\nHost: edge\r\n\r\n"
                stuck.sendall(request.encode())
            await until(lambda: len(parts.streams) > 0)
            await until(lambda: (len(parts.pump), len(parts.streams)) == (0, 0))


def test_a_taken_port_is_named() -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(AddressError, match=f"port {port}: .*choose another port"):
            listen("127.0.0.1", port)


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_streams_in_order(
    plane: Plane, issuer: Issuer, as_edge: str, stop: signal.Signals
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = (
        "from pgplane.edge import server; from pgplane.settings import Settings;"
        f"server.run(Settings(), '127.0.0.1', {port}); print('ended')"
    )
    environment = {
        **os.environ,
        "PLANE_QUEUE_URL": as_edge,
        "PLANE_JWT_KEY": issuer.public_pem,
        "PLANE_JWT_AUDIENCE": "plane-tests",
        "PLANE_GRACE_SECONDS": "1",
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, env=environment, stdout=asyncio.subprocess.PIPE
    )
    try:
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:

            async def up() -> bool:
                try:
                    await ready(client)
                except httpx2.TransportError:
                    return False
                return True

            await until(up)
            asked = await ask(client, issuer)
            async with client.stream("GET", asked["streamUrl"]) as response:
                chunks = response.aiter_bytes()
                received = await anext(chunks)
                assert b"event: queued" in received
                process.send_signal(stop)
                last = b"".join([chunk async for chunk in chunks])
                assert last.startswith(b"retry: ")
                assert b"event:" not in last
        output, _ = await asyncio.wait_for(process.communicate(), 20)
        assert b"ended" in output
        assert process.returncode == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
