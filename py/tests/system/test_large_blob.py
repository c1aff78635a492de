"""A blob of a gigabyte, through a worker and an edge: what comes of it, and what it takes."""

from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from math import inf
from time import monotonic

import httpx2
import psycopg
import pytest

from ..support.browsers import Browser
from ..support.edges import problem, until
from ..support.issuer import AUDIENCE, Issuer
from ..support.oracle import broken
from ..support.stage import Deployment, client_database, deployed
from ..support.workers import QUEUE

MB = 1_000_000
MIB = 1024 * 1024
SIZES = [
    pytest.param(64 * MIB, id="64 MiB"),
    pytest.param(1000 * MB, id="1 GB", marks=[pytest.mark.long, pytest.mark.timeout(600)]),
]
MOST = 150 * MB
"""What a process may ever have had in memory."""
MORE = 32 * MIB
"""How much of it may be the blob's doing, whatever the blob's size."""


class Received:
    """What has come of a blob so far: how many bytes, and their digest."""

    def __init__(self) -> None:
        self.size = 0
        self._digest = sha256()

    async def add(self, pieces: AsyncIterator[bytes], enough: float = inf) -> None:
        """Take what comes until it ends, or there is enough."""
        async for data in pieces:
            self.size += len(data)
            self._digest.update(data)
            if self.size >= enough:
                return

    @property
    def digest(self) -> str:
        return self._digest.hexdigest()


@dataclass(frozen=True)
class Bulk:
    """A blob that was written, and where it is."""

    path: str
    size: int
    digest: str


@pytest.fixture
def deployment(issuer: Issuer) -> Iterator[Deployment]:
    """A plane of its own: what its server keeps of so many bytes in its log goes with it."""
    with deployed(
        "tests.support.workers:surface",
        QUEUE,
        client_database,
        lease="30 s",
        jwt_key=issuer.public_pem,
        jwt_audience=AUDIENCE,
        stream_seconds="600",
    ) as running:
        yield running


@pytest.fixture
def ledger(deployment: Deployment) -> Iterator[psycopg.Connection]:
    """The queue database as its superuser sees it; it is whole in the end."""
    with psycopg.connect(deployment.server.database_url("stage"), autocommit=True) as connection:
        yield connection
        assert broken(connection) == []


@pytest.fixture
async def ann(deployment: Deployment, issuer: Issuer) -> AsyncIterator["Ann"]:
    base_url = f"http://127.0.0.1:{deployment.port}"
    async with httpx2.AsyncClient(base_url=base_url, timeout=30) as http:
        yield Ann(http, issuer)


class Ann:
    """Has blobs written and downloads them, straight at the edge or over its wire."""

    def __init__(self, http: httpx2.AsyncClient, issuer: Issuer) -> None:
        self.http = http
        self._issuer = issuer

    @property
    def token(self) -> dict[str, str]:
        """A new one each time: a gigabyte may take longer than one lasts."""
        return self._issuer.bearer()

    async def written(self, size: int) -> tuple[Bulk, int]:
        """A blob of so many bytes, as an answer names it, and the job."""
        browser = Browser(self.http, "test", self.token)
        asked = await browser.ask("bulk", size=size)
        name, data = await browser.answer(asked)
        assert name == "done", data
        about = data["result"]["file"]["blobRef"]
        assert about["size"] == size
        path = f"{asked['statusUrl']}/blob/{about['blob']}"
        return Bulk(path, size, data["result"]["sha256"]), int(asked["jobId"])

    async def whole(self, bulk: Bulk) -> str:
        """Download it; the validator of its bytes."""
        received = Received()
        async with self.http.stream("GET", bulk.path, headers=self.token) as response:
            assert response.status_code == 200
            assert response.headers["Content-Length"] == str(bulk.size)
            await received.add(response.aiter_raw())
        assert (received.size, received.digest) == (bulk.size, bulk.digest)
        return str(response.headers["ETag"])

    async def in_two(self, bulk: Bulk, etag: str, deployment: Deployment) -> None:
        """Download it over a wire that is cut in the middle, and then the rest."""
        received = Received()
        url = deployment.url + bulk.path
        async with self.http.stream("GET", url, headers=self.token) as response:
            assert response.headers["ETag"] == etag
            pieces = response.aiter_raw()
            await received.add(pieces, enough=bulk.size // 2)
            await self.http.post(f"{deployment.control}/wire/cut")
            with pytest.raises(httpx2.ReadError):
                await received.add(pieces)
        assert bulk.size // 2 <= received.size < bulk.size

        rest = {"Range": f"bytes={received.size}-", "If-Range": etag}
        async with self.http.stream("GET", bulk.path, headers=self.token | rest) as response:
            assert response.status_code == 206
            part = f"bytes {received.size}-{bulk.size - 1}/{bulk.size}"
            assert response.headers["Content-Range"] == part
            await received.add(response.aiter_raw())
        assert (received.size, received.digest) == (bulk.size, bulk.digest)


@pytest.mark.parametrize("size", SIZES)
async def test_a_large_blob_takes_little_memory_and_arrives_whole(
    deployment: Deployment,
    ledger: psycopg.Connection,
    ann: Ann,
    size: int,
    tell: Callable[[str], None],
) -> None:
    small, _ = await ann.written(4 * MIB)
    await ann.whole(small)
    before = peaks(deployment)

    large, job_id = await ann.written(size)
    ended = deployment.worker.event("job.finished", job_id=job_id)
    assert (ended["attempt"], ended["outcome"]) == (1, "done")
    began = monotonic()
    etag = await ann.whole(large)
    reading = monotonic() - began
    await ann.in_two(large, etag, deployment)

    most = peaks(deployment)
    tell(
        f"a blob of {size / MB:.0f} MB: written at {size / MB / ended['wall_ms'] * 1000:.0f} MB/s,"
        f" read at {size / MB / reading:.0f} MB/s; most memory of worker and edge: {figures(most)}"
        f" MB, before it {figures(before)} MB"
    )
    assert max(most) < MOST
    assert max(now - then for now, then in zip(most, before, strict=True)) < MORE

    assert disk(ledger) > size
    ledger.execute("select plane.create_queue(%s, p_blob_retention => '0 s')", [QUEUE])
    for asked_for in ({}, {"Range": f"bytes={size // 2}-", "If-Range": etag}):
        gone = await ann.http.get(large.path, headers=ann.token | asked_for)
        assert problem(gone, 410)["code"] == "GONE"
    reap(ledger)
    await until(lambda: disk(ledger) < size // 20)


def peaks(deployment: Deployment) -> tuple[int, int]:
    """The most memory that worker and edge have had so far."""
    return deployment.worker.peak_bytes(), deployment.edge.peak_bytes()


def figures(peaks: tuple[int, int]) -> str:
    return " and ".join(f"{peak / MB:.0f}" for peak in peaks)


def reap(ledger: psycopg.Connection) -> None:
    """Remove the bytes of all that has expired, as workers do when they look at it next: now."""
    ledger.execute("update plane.blob set reap_at = plane._now()")
    while ledger.execute("select plane.reap_blobs()").fetchone() != (0,):
        pass


def disk(ledger: psycopg.Connection) -> int:
    """How many bytes of disk the bytes of blobs take, once what was removed is given back."""
    ledger.execute("vacuum plane.blob_chunk")
    size = "select pg_total_relation_size('plane.blob_chunk')"
    (taken,) = ledger.execute(size).fetchone() or (-1,)
    return int(taken)
