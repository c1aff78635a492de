"""How long a question takes: from its POST through a real edge, a real worker and a client database
to its answer; and the same query where whoever is asked runs it at once.

Questions arrive at random, each at its time, whether or not those before it have been answered.
"""

import asyncio
import random
import sys
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from typing import Any, TypeVar

import httpx2
import psycopg
import uvloop

from bench import sales
from bench.plane import plane
from bench.processes import Said, running
from bench.server import Bench
from bench.streams import PATIENCE, QUEUE, Reader
from tests.support.issuer import AUDIENCE, Issuer
from tests.support.postgres import for_database, for_role

T = TypeVar("T")
Sample = dict[str, float]
"""Of one rate in one round, in milliseconds: `<step>_p50` and `<step>_p95`."""

RATES = (1, 10, 50)
"""Questions a second."""

STEPS = {
    "accepted": "enqueue → 202: from the POST, at the client",
    "wait": "queue wait: enqueue → claim",
    "run": "execution: claim → done",
    "told": "done → SSE event: commit, notify, read, push",
    "stored": "end to end: created → done",
    "whole": "end to end: from the POST to the answer, at the client",
    "floor": "the same query, answered directly to its POST",
}

SHORTEST = 10.0
"""Seconds that each rate is kept up, at least."""
WARM = 20
"""Questions before anything is measured."""
LATE = 1.0
"""Seconds behind its time with which a question may be sent: else the clients are too slow."""
DATABASE = "bench_sales"

PGPLANE = str(Path(sys.executable).with_name("pgplane"))


@dataclass(frozen=True, slots=True)
class Answered:
    """A question that was answered through the plane; times in seconds, by this machine's clock."""

    job_id: int
    sent: float
    accepted: float
    told: float


class Clients:
    """Who asks: the edge, or the program that answers at once."""

    def __init__(self, http: httpx2.AsyncClient, edge: int, direct: int, issuer: Issuer) -> None:
        self._http = http
        self._edge = edge
        self._direct = direct
        self._headers = issuer.bearer(scope=sales.SCOPE, exp=int(time.time()) + 86_400)

    async def ask_plane(self, n: int) -> Answered:
        """POST, and follow the stream at once, as a page does."""
        sent = time.time()
        question = {"operation": "sales", "params": sales.params(n)}
        url = f"http://127.0.0.1:{self._edge}/api/bench/q"
        response = await self._http.post(url, json=question, headers=self._headers)
        accepted = time.time()
        if response.status_code != 202:
            raise RuntimeError(f"the edge answered {response.status_code}: {response.text}")
        reader = Reader(response.json()["streamUrl"])
        loop = asyncio.get_running_loop()
        await loop.create_connection(lambda: reader, "127.0.0.1", self._edge)
        told = await asyncio.wait_for(reader.told, PATIENCE)
        reader.opened.cancel()  # what had ended before it was followed is told at once
        return Answered(reader.job_id, sent, accepted, told - time.perf_counter() + time.time())

    async def ask_directly(self, n: int) -> tuple[float, Any]:
        """The seconds that it took, and the answer."""
        sent = time.perf_counter()
        response = await self._http.post(f"http://127.0.0.1:{self._direct}/", json=sales.params(n))
        took = time.perf_counter() - sent
        response.raise_for_status()
        return took, response.json()


async def arriving(
    rate: float, numbers: range, ask: Callable[[int], Coroutine[Any, Any, T]]
) -> list[T]:
    """Ask these at their times; what came of each, in their order."""
    at = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        asked = []
        for n in numbers:
            at += random.expovariate(rate)
            await asyncio.sleep(max(0.0, at - time.perf_counter()))
            if time.perf_counter() - at > LATE:
                raise RuntimeError(f"the clients cannot ask {rate:g} times a second here")
            asked.append(group.create_task(ask(n)))
    return [one.result() for one in asked]


async def measure(clients: Clients, ledger: psycopg.Connection, requests: int) -> dict[int, Sample]:
    """Each rate in turn: the plane, then the same questions without it."""
    found: dict[int, Sample] = {}
    first = 0
    for rate in (0, *RATES):
        count = max(requests, round(rate * SHORTEST)) if rate else WARM
        numbers = range(first, first + count)
        first += count
        answered = await arriving(rate or WARM, numbers, clients.ask_plane)
        direct = await arriving(rate or WARM, numbers, clients.ask_directly)
        seconds = _steps(ledger, answered, [rows for _, rows in direct])
        seconds["floor"] = [took for took, _ in direct]
        if rate:
            found[rate] = _sample(seconds)
    return found


def _steps(
    ledger: psycopg.Connection, answered: list[Answered], rows: list[Any]
) -> dict[str, list[float]]:
    """The seconds of each step; proves that each question was a job and one execution of its own,
    and had the answer that it has without the plane."""
    jobs = ledger.execute(
        "select id, extract(epoch from created_at)::float8, extract(epoch from claimed_at)::float8,"
        " extract(epoch from finished_at)::float8, result, status = 'done' and cache is null"
        " and dequeue_count = 1 from plane.jobs where id = any(%s)",
        [[one.job_id for one in answered]],
    )
    times: dict[int, tuple[float, float, float]] = {}
    results: dict[int, Any] = {}
    for job_id, created, claimed, finished, result, was_run in jobs:
        if not was_run:
            raise RuntimeError(f"job {job_id} was not run once and answered")
        times[job_id] = created, claimed, finished
        results[job_id] = result
    if len(times) != len(answered) or [results[one.job_id] for one in answered] != rows:
        raise RuntimeError("the plane's answers are not those of the query")
    steps: dict[str, list[float]] = {step: [] for step in STEPS if step != "floor"}
    for one in answered:
        created, claimed, finished = times[one.job_id]
        steps["accepted"].append(one.accepted - one.sent)
        steps["wait"].append(claimed - created)
        steps["run"].append(finished - claimed)
        steps["told"].append(one.told - finished)
        steps["stored"].append(finished - created)
        steps["whole"].append(one.told - one.sent)
    return steps


def _sample(seconds: dict[str, list[float]]) -> Sample:
    sample: Sample = {}
    for step in STEPS:
        cuts = quantiles(seconds[step], n=20)
        sample |= {f"{step}_p50": cuts[9] * 1000, f"{step}_p95": cuts[18] * 1000}
    return sample


def take(bench: Bench, requests: int) -> dict[int, Sample]:
    """One round: a ledger, a client database, and processes of its own; by rate."""
    bench.fresh(plane("pgplane"))
    client_url = _client_database(bench)
    issuer = Issuer()
    with (
        psycopg.connect(bench.url, autocommit=True) as ledger,
        _processes(bench.url, client_url, issuer) as (edge, direct),
    ):

        async def run() -> dict[int, Sample]:
            # given up sooner than a server does: no question is sent on one that is being closed
            limits = httpx2.Limits(max_connections=None, keepalive_expiry=2.0)
            async with httpx2.AsyncClient(timeout=PATIENCE, limits=limits) as http:
                return await measure(Clients(http, edge, direct, issuer), ledger, requests)

        return uvloop.run(run())


def _client_database(bench: Bench) -> str:
    """The client database, made anew; as its reader."""
    bench.admin.execute(f"drop database if exists {DATABASE} with (force)")
    if not bench.admin.execute(
        "select from pg_roles where rolname = %s", [sales.READER]
    ).fetchall():
        bench.admin.execute(f"create role {sales.READER} login")
    bench.admin.execute(f"create database {DATABASE}")
    url = for_database(bench.url, DATABASE)
    sales.fill(url)
    return for_role(url, sales.READER)


@contextmanager
def _processes(queue_url: str, client_url: str, issuer: Issuer) -> Iterator[tuple[int, int]]:
    """An edge and a worker, as they are by default, and the program that answers at once; the ports
    of the edge and of that."""
    with psycopg.connect(queue_url, autocommit=True) as connection:
        connection.execute("select plane.create_queue(%s)", [QUEUE])
    settings = {
        "edge": {"PLANE_JWT_KEY": issuer.public_pem, "PLANE_JWT_AUDIENCE": AUDIENCE},
        "worker": {"PLANE_QUEUE": QUEUE, "PLANE_CLIENT_URL": client_url},
    }
    commands = {
        "edge": [PGPLANE, "edge", "--port", "0"],
        "worker": [PGPLANE, "worker", "bench.sales:surface"],
    }
    with ExitStack() as stack:
        said: Said = {}
        for name, command in commands.items():
            its = {"PLANE_QUEUE_URL": queue_url, **settings[name]}
            events = f"{name}.started", "listener.ready"
            said |= stack.enter_context(running(command, its, *events))[1]
        direct = [sys.executable, "-m", "bench.direct"]
        its = {"DIRECT_URL": client_url}
        said |= stack.enter_context(running(direct, its, "direct.started"))[1]
        yield int(said["edge.started"]["port"]), int(said["direct.started"]["port"])
