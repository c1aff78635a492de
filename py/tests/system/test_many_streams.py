"""Thousands of streams on one edge: what they hold, how soon each is told, how they come back."""

import asyncio
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import quantiles
from time import monotonic
from typing import Any

import httpx2
import pytest

from ..support.browsers import EdgeProcess, edge_process
from ..support.crowd import Crowd, allow_many_files
from ..support.edges import Plane, until
from ..support.issuer import Issuer
from ..support.nginx import find_nginx, nginx

QUEUE = "surface-flights"
POOL = 4
ALONE = 300
"""Jobs that end one by one."""
PER_ADDRESS = 50
"""Clients behind one address: the deployed nginx lets one have 200 connections."""

Tell = Callable[[str], None]


@pytest.fixture
def plane(plane: Plane) -> Plane:
    """Its jobs are held for longer than any test here takes."""
    plane.look("select plane.create_queue(%s, p_lease => '1 hour')", QUEUE)
    return plane


@pytest.fixture
def edge(plane: Plane, issuer: Issuer, as_edge: str) -> Iterator[EdgeProcess]:
    """An edge process whose streams stay open; it sweeps as it does by itself."""
    allow_many_files()
    with edge_process(
        issuer,
        queue_url=as_edge,
        stream_seconds="600",
        grace_seconds="8",
        pool_size=str(POOL),
    ) as running:
        running.process.event("listener.ready")
        yield running


def person(edge: EdgeProcess, number: int) -> dict[str, str]:
    """The header of who asks the question of that number: each person asks a hundred."""
    return edge.issuer.bearer(actor=f"user{number // 100}@acme.example")


async def asked(edge: EdgeProcess, count: int) -> dict[int, str]:
    """So many questions; the addresses of their streams by their jobs, in the order of asking."""
    numbers = iter(range(count))
    accepted: dict[int, tuple[int, str]] = {}

    async def one_after_another(http: httpx2.AsyncClient) -> None:
        for number in numbers:
            question = {"operation": "mine", "params": {"n": number}}
            headers = person(edge, number)
            answer = await http.post("/api/flights/q", json=question, headers=headers)
            assert answer.status_code == 202, answer.text
            accepted[number] = int(answer.json()["jobId"]), answer.json()["streamUrl"]

    async with edge.connections() as http:
        await asyncio.gather(*(one_after_another(http) for _ in range(8)))
    return dict(accepted[number] for number in range(count))


def assert_answered(crowd: Crowd, followed: dict[int, int]) -> None:
    """Every client was told the answers of its own jobs, and of no others."""
    assert {job_id: told.client for job_id, told in crowd.told.items()} == followed
    for job_id, told in crowd.told.items():
        assert (told.name, told.data["result"]) == ("done", {"of": job_id})
    assert crowd.given_up == []


def connections(plane: Plane) -> dict[str, list[tuple[Any, ...]]]:
    """All that the edge has, by their names: for each its state, and when its transaction began."""
    found = defaultdict(list)
    for name, *how in plane.look(
        "select application_name, state, xact_start from pg_stat_activity"
        " where usename = 'test_edge' and datname = current_database()"
    ):
        found[name].append(tuple(how))
    return found


def assert_few_connections(plane: Plane) -> int:
    """One listens, and a few are pooled; how many."""
    found = connections(plane)
    assert found.keys() == {"pgplane edge listener", "pgplane edge"}
    assert len(found["pgplane edge listener"]) == 1
    pooled = len(found["pgplane edge"])
    assert pooled <= POOL
    return pooled


def resident(edge: EdgeProcess) -> int:
    """KiB of memory that the edge has."""
    status = Path(f"/proc/{edge.process.process.pid}/status").read_text()
    found = re.search(r"^VmRSS:\s+(\d+) kB$", status, re.MULTILINE)
    assert found is not None
    return int(found[1])


def swept_since(plane: Plane, moment: Any) -> bool:
    """Whether the edge has read what it waits for since then."""
    ((found,),) = plane.look(
        "select exists (select from pg_stat_activity where application_name = 'pgplane edge'"
        " and datname = current_database() and query ~ 'get_results' and query_start > %s"
        " and state = 'idle')",
        moment,
    )
    return bool(found)


async def told_after(plane: Plane, crowd: Crowd, job: tuple[int, int]) -> float:
    """End one job; seconds from its commit to the event."""
    plane.complete_all([job])
    committed = monotonic()
    await crowd.until(lambda: job[0] in crowd.told)
    return crowd.told[job[0]].at - committed


def percentile(seconds: list[float], which: int) -> str:
    return f"p{which} {quantiles(seconds, n=20)[which // 5 - 1] * 1000:.1f} ms"


@pytest.mark.long
@pytest.mark.timeout(600)
async def test_two_thousand_streams_are_answered_by_one_edge(
    plane: Plane, edge: EdgeProcess, crowd: Crowd, tell: Tell
) -> None:
    paths = await asked(edge, 2000)
    empty = resident(edge)
    for client, path in enumerate(paths.values()):
        crowd.follow(client, edge.url, path)
    await crowd.until(lambda: len(crowd.seen) == len(paths))
    ((now,),) = plane.look("select clock_timestamp()")
    await until(lambda: swept_since(plane, now))
    full = resident(edge)

    pooled = assert_few_connections(plane)
    await until(lambda: set(connections(plane)["pgplane edge"]) == {("idle", None)})
    assert len(crowd.seen) - len(crowd.gone) == len(paths), "all of them are open still"

    jobs = plane.claim_all()
    alone = [await told_after(plane, crowd, job) for job in jobs[:ALONE]]
    plane.complete_all(jobs[ALONE:])
    committed = monotonic()
    await crowd.until(lambda: len(crowd.gone) == len(paths))
    assert_answered(crowd, {job_id: client for client, job_id in enumerate(paths)})
    assert (len(crowd.arrivals), crowd.lost, crowd.refused) == (len(paths), [], [])
    together = [crowd.told[job_id].at - committed for job_id, _ in jobs[ALONE:]]
    tell(
        f"2000 streams: {(full - empty) / len(paths):.1f} KiB of memory each"
        f" ({empty / 1024:.0f} MiB before, {full / 1024:.0f} MiB with all open);"
        f" {pooled} pooled connections, idle; commit to event, one job at a time:"
        f" {percentile(alone, 50)}, {percentile(alone, 95)}; {len(together)} in one transaction:"
        f" {percentile(together, 50)}, {percentile(together, 95)}"
    )


@pytest.mark.long
@pytest.mark.timeout(600)
async def test_twenty_streams_tell_of_two_thousand_jobs(
    plane: Plane, edge: EdgeProcess, crowd: Crowd, tell: Tell
) -> None:
    job_ids = list(await asked(edge, 2000))
    empty = resident(edge)
    async with edge.connections() as http:
        for client in range(20):
            jobs = ",".join(map(str, job_ids[client * 100 :][:100]))
            headers = person(edge, client * 100)
            ticket = await http.post(f"/api/flights/ticket?jobs={jobs}", headers=headers)
            crowd.follow(client, edge.url, ticket.json()["streamUrl"])
    await crowd.until(lambda: len(crowd.seen) == 2000)
    full = resident(edge)
    assert_few_connections(plane)
    held = plane.claim_all()
    alone = [await told_after(plane, crowd, job) for job in held[:ALONE]]
    plane.complete_all(held[ALONE:])
    await crowd.until(lambda: len(crowd.gone) == 20)
    assert_answered(crowd, {job_id: number // 100 for number, job_id in enumerate(job_ids)})
    assert (crowd.lost, crowd.refused) == ([], [])
    tell(
        f"20 streams of 100 jobs each: {(full - empty) / 20:.0f} KiB of memory each;"
        f" commit to event: {percentile(alone, 50)}, {percentile(alone, 95)}"
    )


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.skipif(find_nginx() is None, reason="nginx: run tools/ensure-test-tools.sh")
@pytest.mark.parametrize("ended", ["killed", "told to end"])
async def test_a_thousand_clients_come_back_spread_when_their_edge_restarts(
    plane: Plane,
    edge: EdgeProcess,
    crowd: Crowd,
    tmp_path: Path,
    tell: Tell,
    ended: str,
) -> None:
    paths = await asked(edge, 1000)
    held = plane.claim_all()
    with nginx(tmp_path, edge.port, connections=4096) as before:
        for client, path in enumerate(paths.values()):
            crowd.follow(client, before.url, path, f"127.0.1.{1 + client // PER_ADDRESS}")
        await crowd.until(lambda: len(crowd.seen) == len(paths))
        assert (len(crowd.arrivals), crowd.refused) == (len(paths), [])
        if ended == "killed":
            edge.process.kill()
        else:
            assert await asyncio.to_thread(edge.process.terminate) == 0
        plane.complete_all(held[:100])
        await asyncio.to_thread(edge.restart)
        await crowd.until(lambda: crowd.opened >= 2 * len(paths))
        plane.complete_all(held[100:])
        await crowd.until(lambda: len(crowd.gone) == len(paths))
    assert_answered(crowd, {job_id: client for client, job_id in enumerate(paths)})
    assert len(crowd.lost) == len(paths)
    assert set(crowd.refused) <= {502}, "while nobody listens, and no longer"
    told = Counter(retry // 100 for retry in crowd.lost)
    assert max(told.values()) < 3 * len(paths) / 30, "clients are told to come back in step"
    back = sorted(crowd.arrivals)[len(paths) :]
    arrivals = Counter(int((at - back[0]) * 10) for at in back)
    tell(
        f"1000 streams behind nginx, their edge {ended}: told to come back after"
        f" {min(crowd.lost)} to {max(crowd.lost)} ms, at most {max(told.values())} in the same"
        f" 100 ms; {len(back)} arrivals, {len(crowd.refused)} of them met nobody (502),"
        f" at most {max(arrivals.values())} in 100 ms; in each 100 ms from the first:"
        f" {' '.join(str(arrivals[n]) for n in range(max(arrivals) + 1))}"
    )
