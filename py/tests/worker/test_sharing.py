"""Answers that name blobs: shared once those can be read, and for as long as they can."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, Concatenate, ParamSpec, TypeVar

import psycopg
import pytest
from psycopg import AsyncConnection

from pgplane import client_database, ledger, session
from pgplane.surface import Envelope, Params, Surface, Work
from pgplane.worker.answers import Answer, Completion
from pgplane.worker.cache import TtlCache
from pgplane.worker.connection import WarmConnection
from pgplane.worker.execution import Executor
from pgplane.worker.heartbeat import Heartbeat
from pgplane.worker.held import HeldJob
from pgplane.worker.loop import ClaimLoop
from pgplane.worker.output import PIECE_BYTES
from pgplane.worker.settlement import Settlement
from pgplane.worker.telemetry import Run

from ..conftest import ClientDatabase

A = ParamSpec("A")
R = TypeVar("R")
QUEUE = "surface-desk"
ENVELOPE = '{"client": "acme", "actor": "ada", "staff": false, "scope": ["EWR"]}'
PATIENCE = 20.0


class Nothing(Params):
    """No params."""


class Unqueued(WarmConnection):
    """A connection for each call, so that none waits for the one before."""

    def __init__(self, url: str) -> None:
        super().__init__(url, application_name="test settlements")
        self._where = url

    async def call(
        self,
        function: Callable[Concatenate[session.Connection, A], Awaitable[R]],
        *args: A.args,
        **kwargs: A.kwargs,
    ) -> R:
        connection = await session.connect(self._where, application_name="test settlements")
        async with connection:
            return await function(connection, *args, **kwargs)


class Told(Settlement):
    """Knows which jobs it was told to complete, in order, and does it when it is let."""

    def __init__(self, connection: WarmConnection) -> None:
        super().__init__(connection)
        self.completed: list[int] = []
        self.failed: list[int] = []
        self.open = asyncio.Event()
        self.open.set()

    async def complete(self, held: HeldJob, completion: Completion) -> str:
        self.completed.append(held.claim.job_id)
        await self.open.wait()
        return await super().complete(held, completion)

    async def fail(self, held: HeldJob, error: str) -> str:
        self.failed.append(held.claim.job_id)
        return await super().fail(held, error)


class Office:
    """A claim loop in this process, and a handler that counts its calls and answers when let.

    Nobody renews a lease or hears a cancel here: the tests do that to jobs behind its back.
    """

    def __init__(self, connection: session.Connection, worker_url: str, pool: Any) -> None:
        self.connection = connection
        self.calls = 0
        self.begun = asyncio.Semaphore(0)
        self.open = asyncio.Event()
        self.deaf = False
        self.runs: asyncio.Queue[Run] = asyncio.Queue()
        self.held: dict[int, HeldJob] = {}
        surface = Surface("desk")
        surface.operation("export", ttl_seconds=60)(self.export)
        surface.operation("live")(self.export)
        surface.operation("late")(self.late)
        self.claims, self.outputs = (
            WarmConnection(worker_url, application_name=f"test {name}")
            for name in ("claims", "outputs")
        )
        self.settlement = Told(Unqueued(worker_url))
        self.cache: TtlCache[Answer] = TtlCache()
        self.heartbeat = Heartbeat(
            self.claims,
            worker="w",
            queue=QUEUE,
            info="{}",
            manifest=json.dumps(surface.manifest()),
            held=self.held,
            sweep_seconds=60,
        )
        self.loop = ClaimLoop(
            self.claims,
            worker="w",
            queue=QUEUE,
            executor=Executor(surface, pool, self.cache, self.outputs),
            settlement=self.settlement,
            heartbeat=self.heartbeat,
            held=self.held,
            tell=self.runs.put_nowait,
            concurrency=4,
            idle_seconds=0.01,
            grace_seconds=0,
        )

    async def export(
        self, params: Nothing, envelope: Envelope, client: AsyncConnection[Any], work: Work
    ) -> object:
        self.calls += 1
        content = f"call {self.calls}".encode().ljust(PIECE_BYTES)
        async with work.blob("text/plain", "call.txt") as blob:
            await blob.write(content)  # one piece: all of it is there now
            self.begun.release()
            while not self.open.is_set():
                with suppress(*[asyncio.CancelledError] * self.deaf):
                    await self.open.wait()
        return blob.ref

    async def late(
        self, params: Nothing, envelope: Envelope, client: AsyncConnection[Any], work: Work
    ) -> object:
        self.calls += 1
        async with work.blob("text/plain") as blob:
            await blob.write(f"late {self.calls}".encode())  # little: it is sent in the end
            self.begun.release()
            await self.open.wait()
        return blob.ref

    async def ask(self, operation: str = "export") -> int:
        job_id, coalesced = await ledger.submit_request(
            self.connection, QUEUE, operation, "{}", ENVELOPE
        )
        assert not coalesced
        self.loop.wake()
        return job_id

    async def free_key(self, job_id: int) -> None:
        """The same question asked now is another job, while this one still runs."""
        assert await ledger.request_cancel(self.connection, job_id, "test") == "cancelling"

    async def see(self, statement: str, *values: object) -> Any:
        cursor = await self.connection.execute(statement.encode(), values)
        return await cursor.fetchone()

    async def until(self, statement: str, *values: object) -> None:
        """Look until there is such a row."""
        async with asyncio.timeout(PATIENCE):
            while True:
                if await self.see(statement, *values) is not None:
                    return
                await asyncio.sleep(0.01)

    async def answer(self, job_id: int) -> tuple[str | None, str]:
        """Where a job's answer came from, and what a caller of its scope reads in its blob."""
        await self.until(
            "select from plane.jobs where id = %s and status in ('done', 'cancelled', 'poison')",
            job_id,
        )
        key = await ledger.scope_key(self.connection, "acme", '["EWR"]', False)
        job = await ledger.get_job(self.connection, QUEUE, job_id, key)
        assert job is not None
        assert (job.status, job.error) == ("done", None)
        assert job.result is not None
        number = json.loads(job.result)["blobRef"]["blob"]
        content = await ledger.read_blob(
            self.connection, QUEUE, job_id, number, key, 0, PIECE_BYTES
        )
        return job.cache, content.decode().rstrip()


@pytest.fixture
async def office(queue_db: str, as_worker: str, client_db: ClientDatabase) -> AsyncIterator[Office]:
    connection = await session.connect(queue_db, application_name="test")
    async with connection, client_database.pool(client_db.reader, size=4) as pool:
        await ledger.create_queue(connection, QUEUE)
        opened = Office(connection, as_worker, pool)
        await opened.heartbeat.register()
        working = asyncio.create_task(opened.loop.run())
        try:
            yield opened
        finally:
            opened.open.set()
            opened.settlement.open.set()
            opened.loop.stop()
            await working
            for warm in (opened.claims, opened.outputs):
                await warm.close()


@asynccontextmanager
async def unsettled(office: Office, queue_db: str, job_id: int) -> AsyncIterator[Any]:
    """Let the handler end; its completion waits at the lease until the block is over."""
    async with await psycopg.AsyncConnection.connect(queue_db) as other:
        await other.execute("select from plane.lease where job_id = %s for update", [job_id])
        office.open.set()
        await office.until(
            "select from pg_stat_activity where application_name = 'test settlements'"
            " and wait_event_type = 'Lock' and datname = current_database()"
        )
        yield other


async def test_an_export_is_answered_and_hit(office: Office) -> None:
    office.open.set()
    assert await office.answer(await office.ask()) == (None, "call 1")
    assert await office.answer(await office.ask()) == ("hit", "call 1")


@pytest.mark.parametrize("operation", ["export", "live"])
async def test_who_joins_waits_until_the_blobs_can_be_read(
    office: Office, queue_db: str, operation: str
) -> None:
    first = await office.ask(operation)
    await office.begun.acquire()
    await office.free_key(first)
    second = await office.ask(operation)
    await office.until("select from plane.jobs where id = %s and status = 'in_progress'", second)
    async with unsettled(office, queue_db, first):
        await office.free_key(second)
        third = await office.ask(operation)  # asked after the handler's end, before its completion
        await office.until("select from plane.jobs where id = %s and status = 'in_progress'", third)
        assert office.settlement.completed == [first]
    assert await office.answer(first) == (None, "call 1")
    assert await office.answer(second) == ("coalesced", "call 1")
    assert await office.answer(third) == ("coalesced", "call 1")
    assert office.calls == 1


async def test_who_joined_an_attempt_that_was_lost_computes(office: Office, queue_db: str) -> None:
    first = await office.ask()
    await office.begun.acquire()
    await office.free_key(first)
    second = await office.ask()
    await office.until("select from plane.jobs where id = %s and status = 'in_progress'", second)
    async with unsettled(office, queue_db, first) as other:
        await other.execute("select plane.release_job(%s, 1)", [first])
    assert await office.answer(second) == (None, "call 2")
    assert await office.answer(await office.ask()) == ("hit", "call 2"), "call 1 was never kept"


async def test_another_attempt_of_the_same_job_takes_the_place_of_the_first(office: Office) -> None:
    first = await office.ask()
    await office.begun.acquire()
    assert await ledger.release_job(office.connection, first, 1)
    office.loop.wake()
    async with asyncio.timeout(PATIENCE):
        await office.begun.acquire()  # and does not share what the first attempt computes
        run = await office.runs.get()
    assert (run.attempt, run.outcome) == (1, "lost"), "it works for nobody"
    office.open.set()
    assert await office.answer(first) == (None, "call 2")
    assert await office.answer(await office.ask()) == ("hit", "call 2")


async def test_who_joined_a_handler_that_is_deaf_computes_at_once(office: Office) -> None:
    office.deaf = True
    first = await office.ask()
    await office.begun.acquire()
    await office.free_key(first)
    second = await office.ask()
    await office.until("select from plane.jobs where id = %s and status = 'in_progress'", second)
    office.held[first].stop("timeout")
    async with asyncio.timeout(PATIENCE):
        await office.begun.acquire()  # the lease of the first is the test's, and longer than that
    office.open.set()
    assert await office.answer(second) == (None, "call 2")


@pytest.mark.parametrize(
    ("take_away", "bring_back"),
    [
        (
            "select plane.create_queue('surface-desk', p_blob_retention => '0 s')",
            "select plane.create_queue('surface-desk', p_blob_retention => '1 day')",
        ),
        (
            "with gone as (delete from plane.blob) delete from plane.blob_chunk returning 1",
            "select 1",
        ),
    ],
    ids=["expired", "gone"],
)
async def test_an_answer_whose_blobs_are_no_more_is_computed_anew_once(
    office: Office, take_away: str, bring_back: str
) -> None:
    office.open.set()
    await office.answer(await office.ask())
    await office.see(take_away)
    again = await office.ask()
    await office.until("select from plane.jobs where id = %s and status = 'done'", again)
    await office.see(bring_back)
    assert await office.answer(again) == (None, "call 2")
    assert office.calls == 2
    assert await office.answer(await office.ask()) == ("hit", "call 2"), "the new one is kept"


async def test_an_attempt_that_learns_of_its_loss_by_writing_is_lost(office: Office) -> None:
    first = await office.ask("late")
    await office.begun.acquire()
    assert await ledger.release_job(office.connection, first, 1)
    office.open.set()
    office.loop.wake()
    async with asyncio.timeout(PATIENCE):
        runs = [await office.runs.get() for _ in range(2)]
    assert [(run.attempt, run.outcome) for run in runs] == [(1, "lost"), (2, "done")]
    assert office.settlement.failed == [], "it is not its handler's failure"
    assert await office.answer(first) == (None, "late 2")


async def test_a_run_is_told_of_each_execution(office: Office) -> None:
    office.open.set()
    jobs = [await office.ask()]
    await office.answer(jobs[0])
    jobs.append(await office.ask())
    await office.answer(jobs[1])
    async with asyncio.timeout(PATIENCE):
        computed, hit = [await office.runs.get() for _ in jobs]
    assert [computed.job_id, hit.job_id] == jobs
    assert (computed.operation, computed.outcome, computed.cache) == ("export", "done", None)
    assert (hit.attempt, hit.outcome, hit.cache) == (1, "done", "hit")
    for run in (computed, hit):
        assert run.queue_wait_ms is not None
        assert 0 <= run.queue_wait_ms < PATIENCE * 1000
        assert run.wall_ms > 0
        assert run.cpu_ms >= 0
        assert run.rss_bytes is None or run.rss_bytes > 2**20
