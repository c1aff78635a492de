"""What an open stream costs an edge: its own class of response beside that of sse-starlette.

The edge is a process of its own, over a ledger; this process is its clients, who are raw sockets,
and the worker, who completes their jobs.
"""

import asyncio
import json
import random
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from statistics import quantiles
from typing import Any

import httpx2
import psutil  # type: ignore[import-untyped]
import psycopg
import uvloop

from bench.plane import plane
from bench.processes import running
from bench.queues import RESULT
from bench.server import Bench
from tests.support.issuer import AUDIENCE, Issuer

Sample = dict[str, float]
"""Figures of one class in one round, by the names in FIGURES."""

FIGURES = {
    "memory": ("Memory a stream, KiB", ",.1f"),
    "open": ("All are open after, s", ",.2f"),
    "idle": ("All are open and idle: CPU, ms a second", ",.1f"),
    "p50": ("One ends: commit to event, median, ms", ",.2f"),
    "p95": ("One ends: commit to event, 95th percentile, ms", ",.2f"),
    "all_p50": ("All end at once: commit to event, median, ms", ",.0f"),
    "all_p95": ("All end at once: commit to event, 95th percentile, ms", ",.0f"),
    "all_cpu": ("All end at once: CPU, µs a stream", ",.0f"),
}

QUEUE = "surface-bench"
MANIFEST = {
    "name": "report",
    "version": 1,
    "params": {"type": "object"},
    "ttl_seconds": 0,
    "timeout_seconds": 30,
    "per_actor": False,
}

OPENING = 32
"""Streams that are being opened at a time."""
WARM = 50
"""Streams that come and go before anything is measured."""
ALONE = 300
"""Jobs that end one by one, at most: half of all."""
IDLE = 30.0
"""Seconds of nothing but two rounds of heartbeats."""
PATIENCE = 60.0
"""Seconds after which a client that hears nothing is a failure."""


class Reader(asyncio.Protocol):
    """The client's end of one stream: notices its first event and its last, and keeps nothing."""

    def __init__(self, path: str) -> None:
        loop = asyncio.get_running_loop()
        self.job_id = int(path.split("/")[4])
        self.opened: asyncio.Future[None] = loop.create_future()
        self.told: asyncio.Future[float] = loop.create_future()
        """When the answer came, by this process's clock."""
        self._path = path
        self._tail = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        request = f"GET {self._path} HTTP/1.1\r\nHost: edge\r\n\r\n"
        transport.write(request.encode())  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        seen = self._tail + data
        self._tail = seen[-16:]
        if not self.opened.done() and b"event: queued" in seen:
            self.opened.set_result(None)
        if not self.told.done() and b"event: done" in seen:
            self.told.set_result(time.perf_counter())
            self._transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        for awaited in (self.opened, self.told):
            if not awaited.done():
                awaited.set_exception(ConnectionError("the edge closed a stream early"))


class Clients:
    """Who asks one edge."""

    def __init__(self, port: int, issuer: Issuer) -> None:
        self._port = port
        self._headers = issuer.bearer()
        self._asked = 0

    async def ask(self, count: int) -> list[str]:
        """Ask so many questions; the addresses of their streams."""
        numbers = iter(range(self._asked, self._asked + count))
        self._asked += count
        paths: list[str] = []

        async def one_after_another() -> None:
            for number in numbers:
                question = {"operation": "report", "params": {"n": number}}
                answer = await http.post("/api/bench/q", json=question, headers=self._headers)
                answer.raise_for_status()
                paths.append(answer.json()["streamUrl"])

        base_url = f"http://127.0.0.1:{self._port}"
        async with httpx2.AsyncClient(base_url=base_url, timeout=PATIENCE) as http:
            await asyncio.gather(*(one_after_another() for _ in range(8)))
        return paths

    async def open(self, paths: list[str]) -> dict[int, Reader]:
        """Open these streams, OPENING at a time; by its job, each that has told how that stands."""
        waiting = iter(paths)
        readers: dict[int, Reader] = {}

        async def one_after_another() -> None:
            for path in waiting:
                reader = await self._follow(path)
                readers[reader.job_id] = reader

        await asyncio.gather(*(one_after_another() for _ in range(OPENING)))
        return readers

    async def _follow(self, path: str) -> Reader:
        reader = Reader(path)
        loop = asyncio.get_running_loop()
        await loop.create_connection(lambda: reader, "127.0.0.1", self._port)
        await asyncio.wait_for(reader.opened, PATIENCE)
        return reader


class Worker:
    """Who completes the jobs, and tells how long their clients waited for it, in seconds."""

    def __init__(
        self, connection: psycopg.AsyncConnection[Any], readers: dict[int, Reader]
    ) -> None:
        self._connection = connection
        self._readers = readers

    async def claim(self) -> list[tuple[int, int]]:
        """All jobs, in any order, each with its attempt."""
        found = await self._connection.execute(
            "select job_id, attempt from plane.claim(%s, 'bench', %s)",
            [QUEUE, len(self._readers)],
        )
        jobs = [(int(job_id), int(attempt)) for job_id, attempt in await found.fetchall()]
        if {job_id for job_id, _ in jobs} != self._readers.keys():
            raise RuntimeError("what was claimed is not what was asked")
        random.shuffle(jobs)
        return jobs

    async def end_one(self, job_id: int, attempt: int) -> float:
        """Complete a job, when nothing has happened for a moment."""
        await asyncio.sleep(random.uniform(0.004, 0.012))  # noqa: S311 - no rhythm is wanted
        await self._connection.execute(
            "select plane.complete_job(%s, %s, %s::json)", [job_id, attempt, RESULT]
        )
        committed = time.perf_counter()
        return await asyncio.wait_for(self._readers[job_id].told, PATIENCE) - committed

    async def end_all(self, jobs: list[tuple[int, int]]) -> list[float]:
        """Complete these jobs in one transaction."""
        await self._connection.execute(
            "select count(*) from plane.complete_jobs(%s::bigint[], %s::integer[], %s::json[])",
            [
                [job_id for job_id, _ in jobs],
                [attempt for _, attempt in jobs],
                [RESULT] * len(jobs),
            ],
        )
        committed = time.perf_counter()
        told = asyncio.gather(*(self._readers[job_id].told for job_id, _ in jobs))
        return [at - committed for at in await asyncio.wait_for(told, PATIENCE)]


async def measure(edge: psutil.Process, port: int, issuer: Issuer, url: str, count: int) -> Sample:
    """Open so many streams, leave them alone, end some one by one and the rest at once."""
    clients = Clients(port, issuer)
    async with await psycopg.AsyncConnection.connect(
        url, autocommit=True, prepare_threshold=0
    ) as connection:
        warm = Worker(connection, await clients.open(await clients.ask(WARM)))
        await warm.end_all(await warm.claim())

        paths = await clients.ask(count)
        empty = edge.memory_info().rss
        began = time.perf_counter()
        worker = Worker(connection, await clients.open(paths))
        opened = time.perf_counter() - began

        cpu = _cpu(edge)
        await asyncio.sleep(IDLE)
        idle = _cpu(edge) - cpu
        full = edge.memory_info().rss

        jobs = await worker.claim()
        some = min(ALONE, count // 2)
        ones = [await worker.end_one(*job) for job in jobs[:some]]
        cpu = _cpu(edge)
        rest = await worker.end_all(jobs[some:])
        ending = _cpu(edge) - cpu
    one, every = quantiles(ones, n=20), quantiles(rest, n=20)
    return {
        "memory": (full - empty) / count / 1024,
        "open": opened,
        "idle": idle / IDLE * 1000,
        "p50": one[9] * 1000,
        "p95": one[18] * 1000,
        "all_p50": every[9] * 1000,
        "all_p95": every[18] * 1000,
        "all_cpu": ending / len(rest) * 1e6,
    }


def _cpu(process: psutil.Process) -> float:
    """Seconds of the CPU that it has used."""
    times = process.cpu_times()
    return float(times.user + times.system)


def take(bench: Bench, name: str, count: int) -> Sample:
    """One round of this class: a ledger and an edge of its own."""
    bench.fresh(plane("pgplane"))
    with psycopg.connect(bench.url, autocommit=True) as connection:
        connection.execute("select plane.create_queue(%s, p_lease => '1 hour')", [QUEUE])
        connection.execute(
            "select plane.register_manifest(%s, %s)", [QUEUE, json.dumps([MANIFEST])]
        )
    issuer = Issuer()
    with edge(bench.url, name, issuer) as (process, port):
        return uvloop.run(measure(process, port, issuer, bench.url, count))


@contextmanager
def edge(url: str, name: str, issuer: Issuer) -> Iterator[tuple[psutil.Process, int]]:
    """A process of `bench.edge` and its port, once it hears notifications.

    It sweeps too seldom to be seen: a sweep costs both classes the same, and is not theirs.
    """
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    settings = {
        "PLANE_QUEUE_URL": url,
        "PLANE_JWT_KEY": issuer.public_pem,
        "PLANE_JWT_AUDIENCE": AUDIENCE,
        "PLANE_STREAM_SECONDS": "3600",
        "PLANE_SWEEP_SECONDS": "3600",
        "PLANE_GRACE_SECONDS": "1",
    }
    command = [sys.executable, "-m", "bench.edge", name]
    with running(command, settings, "edge.started", "listener.ready") as (process, said):
        yield process, int(said["edge.started"]["port"])


def versions() -> str:
    """What was compared, and on what."""
    names = ("sse-starlette", "starlette", "uvicorn", "uvloop")
    return ", ".join(f"{name} {version(name)}" for name in names)
