"""A desk: the surface `flights` with a worker in this process, whose answers say whose they are."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from psycopg import AsyncConnection

from pgplane import client_database
from pgplane.surface import Envelope, Params, Surface, Work
from pgplane.worker.answers import Answer
from pgplane.worker.cache import TtlCache
from pgplane.worker.connection import WarmConnection
from pgplane.worker.execution import Executor
from pgplane.worker.heartbeat import Heartbeat
from pgplane.worker.held import HeldJob
from pgplane.worker.loop import ClaimLoop
from pgplane.worker.settlement import Settlement

QUEUE = "surface-flights"
CONCURRENCY = 24
"""More jobs than the tests have held at a time."""


class Anything(Params):
    """Any value, or none."""

    v: Any = "unsaid"


class Desk:
    """Operations that answer alike: `board` and `export`, a blob, may be kept, `live` may not, and
    `mine`, which may, is per actor.

    Nobody hears here that a job is cancelled: it runs on, with its question's key free.
    """

    def __init__(self, worker_url: str, pool: Any) -> None:
        self.calls = 0
        """How many answers were computed, or are being."""
        self.seen = 0
        """How many executions have come as far as the caches."""
        self.open = asyncio.Event()
        """Handlers answer once it is set."""
        self.open.set()
        surface = Surface("flights")
        surface.operation("board", ttl_seconds=300, gates=[self._see])(self._answer)
        surface.operation("live", gates=[self._see])(self._answer)
        surface.operation("mine", ttl_seconds=300, per_actor=True, gates=[self._see])(self._answer)
        surface.operation("export", ttl_seconds=300, gates=[self._see])(self._export)
        self._connections = [
            WarmConnection(worker_url, application_name=f"test {name}")
            for name in ("claims", "settlements", "outputs")
        ]
        claims, settlements, outputs = self._connections
        held: dict[int, HeldJob] = {}
        heartbeat = Heartbeat(
            claims,
            worker="desk",
            queue=QUEUE,
            info="{}",
            manifest=json.dumps(surface.manifest()),
            held=held,
            sweep_seconds=60,
        )
        cache: TtlCache[Answer] = TtlCache()
        self.register = heartbeat.register
        self._loop = ClaimLoop(
            claims,
            worker="desk",
            queue=QUEUE,
            executor=Executor(surface, pool, cache, outputs),
            settlement=Settlement(settlements),
            heartbeat=heartbeat,
            held=held,
            tell=lambda _run: None,
            concurrency=CONCURRENCY,
            idle_seconds=0.01,
            grace_seconds=0,
        )

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        """Claim and answer meanwhile."""
        loop = asyncio.create_task(self._loop.run())
        try:
            yield
        finally:
            self.open.set()
            self._loop.stop()
            await loop

    async def close(self) -> None:
        for connection in self._connections:
            await connection.close()

    def _see(self, _params: Anything, _envelope: Envelope) -> None:
        self.seen += 1

    async def _said(self, params: Anything, envelope: Envelope) -> dict[str, object]:
        self.calls += 1
        said = {**envelope.model_dump(), "v": params.v, "call": self.calls}
        await self.open.wait()
        return said

    async def _answer(
        self, params: Anything, envelope: Envelope, client: AsyncConnection[Any]
    ) -> object:
        return await self._said(params, envelope)

    async def _export(
        self, params: Anything, envelope: Envelope, client: AsyncConnection[Any], work: Work
    ) -> object:
        async with work.blob("application/json") as blob:
            await blob.write(json.dumps(await self._said(params, envelope)).encode())
        return blob.ref


@asynccontextmanager
async def desk_of(worker_url: str, client_url: str) -> AsyncIterator[Desk]:
    """A desk that has registered what it answers, and does not work yet; the queue is there."""
    async with client_database.pool(client_url, size=CONCURRENCY) as pool:
        desk = Desk(worker_url, pool)
        await desk.register()
        try:
            yield desk
        finally:
            await desk.close()
