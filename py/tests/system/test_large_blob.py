"""A blob of a gigabyte, through a worker and an edge: what comes of it, and what it takes."""

from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from math import inf
from time import monotonic

import httpx2
import psycopg
import pytest

from ..conftest import ClientDatabase
from ..support import workers
from ..support.browsers import Browser, EdgeProcess, edge_process
from ..support.edges import problem, until
from ..support.issuer import Issuer
from ..support.wire import wire
from ..support.workers import QUEUE, Worker
from ..worker.test_exports import peak_bytes

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
def ledger(queue_db: str) -> Iterator[psycopg.Connection]:
    """The queue database as an onlooker with every right; the surface has its queue."""
    with psycopg.connect(queue_db, autocommit=True) as connection:
        connection.execute("select plane.create_queue(%s, p_max_dequeues => 1)", [QUEUE])
        yield connection


@pytest.fixture
def edge(ledger: psycopg.Connection, as_edge: str, issuer: Issuer) -> Iterator[EdgeProcess]:
    with edge_process(issuer, queue_url=as_edge, stream_seconds="600") as running:
        running.process.event("listener.ready")
        yield running


@pytest.fixture
def worker(
    ledger: psycopg.Connection, as_worker: str, client_db: ClientDatabase
) -> Iterator[Worker]:
    with workers.running(as_worker, client_db.reader) as running:
        yield running


@pytest.fixture
async def http(edge: EdgeProcess) -> AsyncIterator[httpx2.AsyncClient]:
    async with edge.connections() as connections:
        yield connections


@pytest.mark.parametrize("size", SIZES)
async def test_a_large_blob_costs_little_memory_and_arrives_whole(
    ledger: psycopg.Connection,
    edge: EdgeProcess,
    worker: Worker,
    http: httpx2.AsyncClient,
    size: int,
    tell: Callable[[str], None],
) -> None:
    small, _ = await written(http, edge, worker, 4 * MIB)
    await whole(http, edge, small)
    before = peaks(worker, edge)

    large, writing = await written(http, edge, worker, size)
    began = monotonic()
    etag = await whole(http, edge, large)
    reading = monotonic() - began
    assert disk(ledger) > size
    await in_two(http, edge, large, etag)

    most = peaks(worker, edge)
    tell(
        f"a blob of {size / MB:.0f} MB: written at {size / MB / writing:.0f} MB/s, read at"
        f" {size / MB / reading:.0f} MB/s; worker and edge: at most {figures(most)} MB of memory,"
        f" {figures(before)} MB before it"
    )
    assert max(most) < MOST
    assert max(now - then for now, then in zip(most, before, strict=True)) < MORE

    ledger.execute("select plane.create_queue(%s, p_blob_retention => '0 s')", [QUEUE])
    for asked_for in ({}, {"Range": f"bytes={size // 2}-", "If-Range": etag}):
        gone = await http.get(large.path, headers=edge.issuer.bearer() | asked_for)
        assert problem(gone, 410)["code"] == "GONE"
    reap(ledger)
    await until(lambda: disk(ledger) < size // 20)


async def written(
    http: httpx2.AsyncClient, edge: EdgeProcess, worker: Worker, size: int
) -> tuple[Bulk, float]:
    """A blob of so many bytes, as an answer names it, and the seconds that its job took."""
    ann = Browser(http, "test", edge.issuer.bearer())
    asked = await ann.ask("bulk", size=size)
    name, data = await ann.answer(asked)
    assert name == "done", data
    about = data["result"]["file"]["blobRef"]
    assert about["size"] == size
    ended = worker.event("job.finished", job_id=int(asked["jobId"]))
    path = f"{asked['statusUrl']}/blob/{about['blob']}"
    return Bulk(path, size, data["result"]["sha256"]), ended["wall_ms"] / 1000


async def whole(http: httpx2.AsyncClient, edge: EdgeProcess, bulk: Bulk) -> str:
    """Download it; the validator of its bytes."""
    received = Received()
    async with http.stream("GET", bulk.path, headers=edge.issuer.bearer()) as response:
        assert response.status_code == 200
        assert response.headers["Content-Length"] == str(bulk.size)
        await received.add(response.aiter_raw())
    assert (received.size, received.digest) == (bulk.size, bulk.digest)
    return str(response.headers["ETag"])


async def in_two(http: httpx2.AsyncClient, edge: EdgeProcess, bulk: Bulk, etag: str) -> None:
    """Download it over a line that is cut in the middle, and then the rest."""
    received = Received()
    async with (
        wire(edge.port) as line,
        httpx2.AsyncClient(base_url=line.url, timeout=30) as cut,
        cut.stream("GET", bulk.path, headers=edge.issuer.bearer()) as response,
    ):
        assert response.headers["ETag"] == etag
        pieces = response.aiter_raw()
        await received.add(pieces, enough=bulk.size // 2)
        line.cut()
        with pytest.raises(httpx2.ReadError):
            await received.add(pieces)
    assert bulk.size // 2 <= received.size < bulk.size

    rest = {"Range": f"bytes={received.size}-", "If-Range": etag}
    async with http.stream("GET", bulk.path, headers=edge.issuer.bearer() | rest) as response:
        assert response.status_code == 206
        part = f"bytes {received.size}-{bulk.size - 1}/{bulk.size}"
        assert response.headers["Content-Range"] == part
        await received.add(response.aiter_raw())
    assert (received.size, received.digest) == (bulk.size, bulk.digest)


def peaks(worker: Worker, edge: EdgeProcess) -> tuple[int, int]:
    """The most memory that each has had so far."""
    return peak_bytes(worker), peak_bytes(edge.process)


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
