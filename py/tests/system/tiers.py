"""One surface in two tiers: an edge and a worker of each, told apart by nothing but settings."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from psycopg import AsyncConnection

from pgplane.names import queue_of
from pgplane.surface import Envelope, Params, Surface, Work

from ..support.browsers import EdgeProcess, edge_process
from ..support.issuer import Issuer
from ..support.processes import Process

LIVE, DEV = "", "-dev"

flights = Surface("flights")


class Question(Params):
    """Any question, by its number."""

    n: int = 0


@flights.operation("where", ttl_seconds=300)
async def where(params: Question, envelope: Envelope, client: AsyncConnection[Any]) -> object:
    return {"answered": await _here(client), "n": params.n}


@flights.operation("export", ttl_seconds=300)
async def export(
    params: Question, envelope: Envelope, client: AsyncConnection[Any], work: Work
) -> object:
    async with work.blob("text/plain", "where.txt") as blob:
        await blob.write((await _here(client)).encode())
    return blob.ref


async def _here(client: AsyncConnection[Any]) -> str:
    """Which database this is, and a word that is never said twice."""
    cursor = await client.execute("select current_database() || ' ' || gen_random_uuid()")
    row = await cursor.fetchone()
    assert row is not None
    return str(row[0])


@dataclass(frozen=True)
class Tier:
    """The settings of one tier; `queue_urls`: for its edge and for its worker."""

    suffix: str
    queue_urls: tuple[str, str]
    client_url: str
    issuer: Issuer

    @property
    def queue(self) -> str:
        """The queue of the surface."""
        return queue_of(flights.name, self.suffix)

    @contextmanager
    def edge(self, **settings: str) -> Iterator[EdgeProcess]:
        """An edge that hears notifications."""
        at, tier = self.queue_urls[0], self.suffix
        with edge_process(self.issuer, queue_url=at, surfaces_tier=tier, **settings) as running:
            running.process.event("listener.ready")
            yield running

    @contextmanager
    def worker(self) -> Iterator[Process]:
        """A worker that hears notifications, and has registered what it answers."""
        worker = Process(
            "worker", "tests.system.tiers:flights",
            queue=self.queue, queue_url=self.queue_urls[1], client_url=self.client_url,
        )  # fmt: skip
        with worker:
            worker.event("worker.started")
            worker.event("listener.ready")
            yield worker
