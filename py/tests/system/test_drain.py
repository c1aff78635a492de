"""Two edges behind nginx, as deployed: one of them goes, and nothing that was asked is lost."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx2
import pytest

from ..support.blobs import answer_with
from ..support.browsers import EdgeProcess, edge_process
from ..support.crowd import Crowd
from ..support.edges import ASK, QUESTION, Plane, ask, until
from ..support.issuer import Issuer
from ..support.nginx import Nginx, find_nginx, nginx
from ..support.sockets import RawStream

pytestmark = pytest.mark.skipif(
    find_nginx() is None, reason="nginx: run tools/ensure-test-tools.sh"
)

QUEUE = "surface-flights"
CLIENTS = 40
WAITS = 20


@pytest.fixture
def edges(plane: Plane, issuer: Issuer, as_edge: str) -> Iterator[list[EdgeProcess]]:
    """The one that is going to go, and the one that stays."""
    plane.look("select plane.create_queue(%s, p_lease => '1 hour')", QUEUE)
    with (
        edge_process(issuer, queue_url=as_edge, grace_seconds="8") as going,
        edge_process(issuer, queue_url=as_edge) as staying,
    ):
        for edge in (going, staying):
            edge.process.event("listener.ready")
        yield [going, staying]


@pytest.fixture
def before(edges: list[EdgeProcess], tmp_path: Path) -> Iterator[Nginx]:
    with nginx(tmp_path, [edge.port for edge in edges]) as running:
        yield running


@pytest.fixture
async def http(before: Nginx) -> AsyncIterator[httpx2.AsyncClient]:
    limits = httpx2.Limits(max_connections=None)
    async with httpx2.AsyncClient(base_url=before.url, timeout=60, limits=limits) as client:
        yield client


async def waits(
    http: httpx2.AsyncClient, plane: Plane, issuer: Issuer
) -> list[asyncio.Task[httpx2.Response]]:
    """Questions whose askers wait for the answer, once their jobs are there and awaited."""
    headers = issuer.bearer() | {"Prefer": "wait=50"}
    asked = [
        asyncio.create_task(
            http.post(ASK, json=QUESTION | {"params": {"waits": number}}, headers=headers)
        )
        for number in range(WAITS)
    ]
    awaited = (
        "select count(distinct w.job_id) from plane.waiter w join plane.jobs j on j.id = w.job_id"
    )
    await until(lambda: plane.look(f"{awaited} where j.params ? 'waits'") == [(WAITS,)])
    return asked


async def test_an_edge_that_is_told_to_end_loses_nothing(
    edges: list[EdgeProcess],
    http: httpx2.AsyncClient,
    before: Nginx,
    crowd: Crowd,
    plane: Plane,
    issuer: Issuer,
) -> None:
    going, _ = edges
    blob_of = (await ask(http, issuer, params={"a": "blob"}))["statusUrl"]
    data = bytes(range(256)) * 4096 * 24
    blob = f"{blob_of}/blob/{answer_with(plane, data)}"
    asked = [await ask(http, issuer, params={"n": number}) for number in range(CLIENTS)]
    for client, one in enumerate(asked):
        crowd.follow(client, before.url, one["streamUrl"])
    await crowd.until(lambda: len(crowd.seen) == CLIENTS)
    waiting = await waits(http, plane, issuer)
    direct = await RawStream.open(going.url, asked[-1]["streamUrl"])
    assert (await direct.event())[0] == "queued"
    downloads = [
        await RawStream.open(url, blob, **issuer.bearer())
        for url in (going.url, before.url, before.url)
    ]
    assert [download.status for download in downloads] == [200] * 3
    jobs = plane.claim_all()
    assert len(jobs) == CLIENTS + WAITS

    ending = asyncio.create_task(asyncio.to_thread(going.process.terminate))
    await crowd.until(lambda: len(crowd.lost) > 0)
    plane.complete_all(jobs[:20])
    late = [await ask(http, issuer, params={"late": number}) for number in range(20)]
    for download in downloads:
        assert await asyncio.wait_for(download.reader.readexactly(len(data)), 30) == data
        download.close()
    assert await direct.over() == "the stream has ended"
    direct.close()
    assert await ending == 0

    assert len(direct.retries) == 2, "it says when to come back in the beginning, and in the end"
    await crowd.until(lambda: crowd.opened >= CLIENTS + len(crowd.lost))
    assert 0 < len(crowd.lost) < CLIENTS
    assert all(1000 <= retry <= 4000 for retry in crowd.lost)
    plane.complete_all(jobs[20:])
    plane.complete_all(plane.claim_all())
    await crowd.until(lambda: len(crowd.gone) == CLIENTS)
    assert (crowd.refused, crowd.given_up) == ([], [])
    for client, one in enumerate(asked):
        job_id = int(one["jobId"])
        told = crowd.told[job_id]
        assert (told.client, told.name, told.data["result"]) == (client, "done", {"of": job_id})
    statuses = []
    for response in await asyncio.gather(*waiting):
        statuses.append(response.status_code)
        assert response.status_code in (200, 202)
        await assert_answered(http, issuer, response.json()["jobId"])
    assert 0 < statuses.count(202) < WAITS, "those at the edge that went are told where to look"
    for one in late:
        await assert_answered(http, issuer, one["jobId"])


async def assert_answered(http: httpx2.AsyncClient, issuer: Issuer, job_id: str) -> None:
    """Whoever asks for it is told the answer of this job."""
    polled = await http.get(f"{ASK}/{job_id}", headers=issuer.bearer())
    assert (polled.status_code, polled.json()["result"]) == (200, {"of": int(job_id)})


async def test_who_waits_at_an_edge_that_is_killed_is_answered_by_another(
    edges: list[EdgeProcess],
    http: httpx2.AsyncClient,
    before: Nginx,
    crowd: Crowd,
    plane: Plane,
    issuer: Issuer,
) -> None:
    asked = [await ask(http, issuer, params={"n": number}) for number in range(CLIENTS)]
    for client, one in enumerate(asked):
        crowd.follow(client, before.url, one["streamUrl"])
    await crowd.until(lambda: len(crowd.seen) == CLIENTS)
    waiting = await waits(http, plane, issuer)
    edges[0].process.kill()
    await crowd.until(lambda: crowd.opened >= CLIENTS + len(crowd.lost) > CLIENTS)
    jobs = plane.claim_all()
    assert len(jobs) == CLIENTS + WAITS, "nobody's question was asked twice"
    plane.complete_all(jobs)
    await crowd.until(lambda: len(crowd.gone) == CLIENTS)
    assert (crowd.refused, crowd.given_up) == ([], [])
    assert {job_id: told.client for job_id, told in crowd.told.items()} == {
        int(one["jobId"]): client for client, one in enumerate(asked)
    }
    for response in await asyncio.gather(*waiting):
        assert response.status_code == 200
        assert response.json()["result"] == {"of": int(response.json()["jobId"])}
