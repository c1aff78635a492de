"""Real worker processes for tests, and the surface that they serve."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from random import Random
from time import monotonic
from typing import Any

from psycopg import AsyncConnection

from pgplane.errors import HttpError
from pgplane.surface import Envelope, Params, Surface, Work

from .processes import Process

QUEUE = "surface-test"
ENVELOPE = '{"client": "acme", "actor": "ada", "staff": false, "scope": ["EWR"]}'
WRITE_BYTES = 1_000_000
"""What `bulk` writes at a time: less than the ledger takes, so that writes are cut anew."""

surface = Surface("test")
empty = Surface("empty")


class Nothing(Params):
    """No params."""


class Word(Params):
    """One word."""

    word: str


class Seconds(Params):
    """How long."""

    seconds: float = 1.0


class Size(Params):
    """How much."""

    size: int


@surface.operation("echo")
async def echo(params: Word, envelope: Envelope, client: AsyncConnection[Any]) -> object:
    if params.word == "nobody":
        raise HttpError(404, "NO_SUCH_WORD", "there is no such word", word=params.word)
    if params.word == "broken":
        raise RuntimeError("it broke; password=hunter2")
    return {"word": params.word, "client": envelope.client}


@surface.operation("slow", timeout_seconds=60)
async def slow(params: Seconds, envelope: Envelope, client: AsyncConnection[Any]) -> object:
    await client.execute("select pg_sleep(%s)", [params.seconds])
    return {"slept": params.seconds}


@surface.operation("impatient", timeout_seconds=1)
async def impatient(params: Nothing, envelope: Envelope, client: AsyncConnection[Any]) -> object:
    await client.execute("select pg_sleep(60)")
    return None


@surface.operation("deaf", timeout_seconds=60)
async def deaf(params: Seconds, envelope: Envelope, client: AsyncConnection[Any]) -> object:
    await client.execute("select 'deaf from now on'")
    until = monotonic() + params.seconds
    while monotonic() < until:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(0.1)
    return None


@surface.operation("untidy")
async def untidy(params: Nothing, envelope: Envelope, client: AsyncConnection[Any]) -> object:
    left_open = client.pipeline()
    await left_open.__aenter__()
    await client.execute("select 1")
    return None


@surface.operation("writer")
async def writer(params: Nothing, envelope: Envelope, client: AsyncConnection[Any]) -> object:
    await client.execute("create table scribble (id int)")
    return None


@surface.operation("bulk", timeout_seconds=600)
async def bulk(
    params: Size, envelope: Envelope, client: AsyncConnection[Any], work: Work
) -> object:
    """A blob of so many bytes, no two writes alike, and the digest of what was written."""
    source, digest = Random(7), sha256()
    async with work.blob("application/octet-stream", "bulk.bin") as blob:
        for start in range(0, params.size, WRITE_BYTES):
            data = source.randbytes(min(WRITE_BYTES, params.size - start))
            digest.update(data)
            await blob.write(data)
    return {"file": blob.ref, "sha256": digest.hexdigest()}


class Worker(Process):
    """A worker process of the surface above; its log lines are its voice."""

    def __init__(self, **settings: str) -> None:
        super().__init__("worker", "tests.support.workers:surface", **settings)


@contextmanager
def running(queue_url: str, client_url: str, **settings: str) -> Iterator[Worker]:
    """A worker of QUEUE that has started and hears notifications."""
    with Worker(queue=QUEUE, queue_url=queue_url, client_url=client_url, **settings) as worker:
        worker.event("worker.started")
        worker.event("listener.ready")
        yield worker
