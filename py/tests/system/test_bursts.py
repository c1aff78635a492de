"""A burst of completions, and what of it reaches the queue database, by the log of its server."""

import re
from collections.abc import Callable, Iterator

import httpx2
import psycopg
import pytest

from ..support.browsers import EdgeProcess, edge_process
from ..support.crowd import Crowd, allow_many_files
from ..support.edges import Plane
from ..support.issuer import Issuer
from ..support.postgres import Server

BURST = 500
PEOPLE = [f"user{number}@acme.example" for number in range(10)]


@pytest.fixture
def edge(plane: Plane, issuer: Issuer, queue_db: str, as_edge: str) -> Iterator[EdgeProcess]:
    """An edge that sweeps too seldom to be counted, and whose statements the server logs."""
    allow_many_files()
    with psycopg.connect(queue_db) as connection:
        database = connection.info.dbname
        connection.execute(f"alter role test_edge in database {database} set log_statement = 'all'")
    with edge_process(
        issuer, queue_url=as_edge, sweep_seconds="3600", stream_seconds="600"
    ) as running:
        running.process.event("listener.ready")
        yield running


def statements(server: Server, plane: Plane, since: int) -> list[str]:
    """What the pool of the edge has executed since the log was so long."""
    pids = {
        str(pid)
        for (pid,) in plane.look(
            "select pid from pg_stat_activity"
            " where application_name = 'pgplane edge' and datname = current_database()"
        )
    }
    said = re.findall(r"\[(\d+)\] LOG:  (?:execute [^:]+|statement): (.*)", server.log[since:])
    return [statement for pid, statement in said if pid in pids]


@pytest.mark.parametrize(("commits", "most"), [(1, 5), (BURST, BURST // 5)])
async def test_a_burst_of_completions_costs_a_few_reads(
    server: Server,
    plane: Plane,
    edge: EdgeProcess,
    crowd: Crowd,
    tell: Callable[[str], None],
    commits: int,
    most: int,
) -> None:
    before = len(server.log)
    async with edge.connections() as http:
        for number in range(BURST):
            crowd.follow(number, edge.url, await asked(http, edge, number))
    await crowd.until(lambda: len(crowd.seen) == BURST)
    assert len(statements(server, plane, before)) > BURST, "each question is one, at least"

    before = len(server.log)
    jobs = plane.claim_all()
    each = BURST // commits
    for first in range(0, BURST, each):
        plane.complete_all(jobs[first : first + each])
    await crowd.until(lambda: len(crowd.gone) == BURST)
    assert {job_id: told.data["result"] for job_id, told in crowd.told.items()} == {
        job_id: {"of": job_id} for job_id in crowd.seen
    }
    burst = statements(server, plane, before)
    tell(f"{BURST} completions in {commits} commits: {len(burst)} reads by the edge")
    assert 1 <= len(burst) <= most, burst
    assert all("plane.get_results(" in statement for statement in burst), burst


async def asked(http: httpx2.AsyncClient, edge: EdgeProcess, number: int) -> str:
    """A question of its own; the address of its stream."""
    answer = await http.post(
        "/api/flights/q",
        json={"operation": "airlines", "params": {"n": number}},
        headers=edge.issuer.bearer(actor=PEOPLE[number % len(PEOPLE)]),
    )
    assert answer.status_code == 202, answer.text
    path: str = answer.json()["streamUrl"]
    return path
