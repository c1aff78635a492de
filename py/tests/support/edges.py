"""An edge under test, and a worker that does what a test tells it."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import psycopg

from pgplane.edge.edge import Edge
from pgplane.edge.server import Server, listen, make_server
from pgplane.settings import Settings

from .issuer import Issuer

ASK = "/api/flights/q"
QUESTION = {"operation": "airlines", "params": {}}
MANIFEST = [
    {
        "name": name,
        "version": 1,
        "params": {"type": "object"},
        "ttl_seconds": 0,
        "timeout_seconds": 30,
        "per_actor": name == "mine",
    }
    for name in ("airlines", "mine")
]


class Plane:
    """The queue database as tests prepare and look at it, and the worker's side of a job."""

    def __init__(self, url: str) -> None:
        self._connection = psycopg.connect(url, autocommit=True)

    def look(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Rows of any query, as the superuser."""
        return self._connection.execute(query, values).fetchall()

    def surface(self, surface: str = "flights", **queue: Any) -> None:
        """A surface with its manifest; `queue`: settings of its queue, e.g. `max_depth=1`."""
        named = "".join(f", p_{name} => %s" for name in queue)
        name = f"surface-{surface}"
        self.look(f"select plane.create_queue(%s{named})", name, *queue.values())
        self.look("select plane.register_manifest(%s, %s)", name, json.dumps(MANIFEST))

    def claim(self, surface: str = "flights") -> tuple[int, int]:
        """Claim the oldest job; its id and the attempt."""
        ((job_id, attempt),) = self.look(
            "select job_id, attempt from plane.claim_one(%s, 'tester')", f"surface-{surface}"
        )
        return job_id, attempt

    def complete(
        self, job: tuple[int, int], result: str | None = None, error: str | None = None
    ) -> None:
        """Finish a claimed job with a result or an error payload, both JSON text."""
        ((completed,),) = self.look(
            "select plane.complete_job(%s, %s, %s::json, %s::json)", *job, result, error
        )
        assert completed

    def claim_all(self, surface: str = "flights") -> list[tuple[int, int]]:
        """Claim whatever waits; ids and attempts, the oldest first."""
        claimed = self.look(
            "select job_id, attempt from plane.claim(%s, 'tester', 10000)", f"surface-{surface}"
        )
        return sorted((job_id, attempt) for job_id, attempt in claimed)

    def complete_all(self, jobs: list[tuple[int, int]]) -> None:
        """Finish claimed jobs in one transaction, each with its id as the result `{"of": id}`."""
        job_ids, attempts = map(list, zip(*jobs, strict=True))
        results = [f'{{"of": {job_id}}}' for job_id in job_ids]
        completed = self.look(
            "select completed from plane.complete_jobs(%s::bigint[], %s::integer[], %s::json[])",
            *(job_ids, attempts, results),
        )
        assert set(completed) == {(True,)}

    def work(self, result: str, surface: str = "flights") -> None:
        """Claim the oldest job and finish it."""
        self.complete(self.claim(surface), result)

    def jobs(self) -> int:
        """How many jobs were ever accepted."""
        ((count,),) = self.look("select count(*) from plane.jobs")
        assert isinstance(count, int)
        return count

    def close(self) -> None:
        self._connection.close()


@asynccontextmanager
async def in_process(
    settings: Settings, static_dir: Path | None = None
) -> AsyncIterator[tuple[httpx2.AsyncClient, Edge]]:
    """A client that calls the app directly: everything but streaming."""
    server = make_server(settings, static_dir)
    app: Any = server.config.app
    transport = httpx2.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=transport, base_url="http://edge") as client,
    ):
        yield client, app.state.edge


@asynccontextmanager
async def on_a_port(settings: Settings) -> AsyncIterator[tuple[httpx2.AsyncClient, Edge]]:
    """A client of a real server on a free port, once it is ready."""
    server = make_server(settings)
    app: Any = server.config.app
    with listen("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        async with running(server, listening):
            base_url = f"http://127.0.0.1:{port}"
            async with httpx2.AsyncClient(base_url=base_url, timeout=30) as client:
                if settings.queue_url:
                    await ready(client)
                yield client, app.state.edge


@asynccontextmanager
async def running(server: Server, listening: Any) -> AsyncIterator[None]:
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        yield
    finally:
        server.should_exit = True
        await serving


async def ready(client: httpx2.AsyncClient) -> None:
    """Wait until the edge says that it is ready."""

    async def says_so() -> bool:
        return (await client.get("/readyz")).status_code == 200

    await until(says_so)


async def until(holds: Callable[[], Awaitable[bool] | bool], seconds: float = 20) -> None:
    """Wait until something holds that nobody tells us of; TimeoutError when it never does."""
    async with asyncio.timeout(seconds):
        while True:
            held = holds()
            if held if isinstance(held, bool) else await held:
                return
            await asyncio.sleep(0.01)


async def ask(
    client: httpx2.AsyncClient,
    issuer: Issuer,
    operation: str = "airlines",
    params: object = None,
    surface: str = "flights",
) -> dict[str, Any]:
    """Ask a question that is accepted; the body of the 202."""
    question = {"operation": operation, "params": params or {}}
    response = await client.post(f"/api/{surface}/q", json=question, headers=issuer.bearer())
    assert response.status_code == 202, response.text
    body: dict[str, Any] = response.json()
    return body


def problem(response: httpx2.Response, status: int) -> dict[str, Any]:
    """The problem document of a refusal."""
    assert response.status_code == status, response.text
    assert response.headers["Content-Type"] == "application/problem+json"
    assert response.headers["X-Request-Id"]
    document: dict[str, Any] = response.json()
    assert document["status"] == status
    assert document["type"] == "about:blank"
    assert document["title"]
    assert document["code"]
    assert document["detail"]
    return document
