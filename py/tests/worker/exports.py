"""A surface whose operations answer with much, and worker processes of it."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from psycopg import AsyncConnection

from pgplane.surface import Envelope, Params, Surface, Work

from ..support.processes import Process
from ..support.workers import QUEUE

PIECE = 1024 * 1024
ROW_BYTES = 1000

surface = Surface("test")


class Nothing(Params):
    """No params."""


class Amount(Params):
    """How much."""

    rows: int


@surface.operation("table", timeout_seconds=60)
async def table(
    params: Amount, envelope: Envelope, client: AsyncConnection[Any], work: Work
) -> object:
    """A CSV file of so many rows, each of ROW_BYTES with its end."""
    work.progress(0, params.rows)
    ref = await work.copy_csv(
        client,
        "select rpad(n::text, %s, '.') as line from (select generate_series(1, %s) as n) as s",
        [ROW_BYTES - 1, params.rows],
        "table.csv",
    )
    return {"rows": params.rows, "file": ref}


@surface.operation("trickle", timeout_seconds=600)
async def trickle(
    params: Nothing, envelope: Envelope, client: AsyncConnection[Any], work: Work
) -> object:
    """A CSV file that takes hours."""
    query = "select n, pg_sleep(0.01) from (select generate_series(1, 1000000) as n) as s"
    return await work.copy_csv(client, query, None, "trickle.csv")


@surface.operation("endless", timeout_seconds=600)
async def endless(
    params: Nothing, envelope: Envelope, client: AsyncConnection[Any], work: Work
) -> object:
    """A blob that has no end."""
    async with work.blob("application/octet-stream") as blob:
        while True:
            await blob.write(b"x" * PIECE)
            await asyncio.sleep(0.02)


@surface.operation("signed", timeout_seconds=600)
async def signed(
    params: Nothing, envelope: Envelope, client: AsyncConnection[Any], work: Work
) -> object:
    """A blob that says which process wrote it; then a pause, as long as the client's table says."""
    async with work.blob("text/plain", "signed.txt") as blob:
        await blob.write(str(os.getpid()).encode())
    work.progress(1, 2, "written")
    await client.execute("select pg_sleep(seconds) from pause")
    return blob.ref


@surface.operation("wide", timeout_seconds=60, ttl_seconds=300)
async def wide(params: Amount, envelope: Envelope, client: AsyncConnection[Any]) -> object:
    """A result of so many thousand bytes and some, with a number that no float holds."""
    return {"id": 9007199254740993, "rows": ["x" * (ROW_BYTES - 3)] * params.rows}


@contextmanager
def exporting(queue_url: str, client_url: str, **settings: str) -> Iterator[Process]:
    """A worker of this surface that has started and hears notifications."""
    worker = Process(
        "worker", "tests.worker.exports:surface",
        queue=QUEUE, queue_url=queue_url, client_url=client_url, **settings,
    )  # fmt: skip
    with worker:
        worker.event("worker.started")
        worker.event("listener.ready")
        yield worker
