"""Telemetry: told or lost, and never anybody's business but its own."""

import asyncio
import dataclasses
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import psycopg
import pytest

from pgplane.errors import Invalid, Unavailable
from pgplane.worker.connection import WarmConnection
from pgplane.worker.telemetry import CAPACITY, Meter, Run, Telemetry, to_ledger
from pgplane.worker.webhook import ANSWER_BYTES, Webhook, WebhookError

from ..support.scripted import a_claim

PATIENCE = 20.0
RUN = Run(
    job_id=9007199254740993,
    attempt=1,
    operation="echo",
    version=2,
    outcome="done",
    cache=None,
    started_at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
    queue_wait_ms=1.5,
    wall_ms=20.25,
    cpu_ms=3.0,
    rss_bytes=50_000_000,
)


class Receiver:
    """Takes runs, once it is let, or fails at them."""

    def __init__(self, *troubles: Exception | None) -> None:
        self.troubles = list(troubles)
        self.taken: list[Run] = []
        self.asked = asyncio.Semaphore(0)
        self.took = asyncio.Semaphore(0)
        self.open = asyncio.Event()
        self.open.set()

    async def __call__(self, run: Run) -> None:
        self.asked.release()
        await self.open.wait()
        trouble = self.troubles.pop(0) if self.troubles else None
        if trouble is not None:
            raise trouble
        self.taken.append(run)
        self.took.release()


def runs(count: int) -> list[Run]:
    return [dataclasses.replace(RUN, job_id=number + 1) for number in range(count)]


@asynccontextmanager
async def telling(telemetry: Telemetry) -> AsyncIterator[None]:
    task = asyncio.create_task(telemetry.run())
    try:
        yield
        assert not task.done()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_each_is_told_of_every_run_in_order() -> None:
    one, two = Receiver(), Receiver()
    telemetry = Telemetry({"one": one, "two": two})
    async with telling(telemetry):
        for run in runs(3):
            telemetry.tell(run)
        await telemetry.flush(PATIENCE)
    assert one.taken == two.taken == runs(3)
    assert telemetry.lost == {"one": 0, "two": 0}


async def test_who_does_not_answer_holds_up_neither_jobs_nor_others() -> None:
    dead, alive = Receiver(), Receiver()
    dead.open.clear()
    telemetry = Telemetry({"dead": dead, "alive": alive})
    async with telling(telemetry):
        for run in runs(3):
            telemetry.tell(run)
        async with asyncio.timeout(PATIENCE):
            for _ in range(3):
                await alive.took.acquire()
        await telemetry.flush(0)
    assert (len(alive.taken), dead.taken) == (3, [])


async def test_what_does_not_fit_into_the_queue_is_lost_and_counted() -> None:
    slow = Receiver()
    slow.open.clear()
    telemetry = Telemetry({"slow": slow}, capacity=2)
    async with telling(telemetry):
        first, *others = runs(6)
        telemetry.tell(first)
        async with asyncio.timeout(PATIENCE):
            await slow.asked.acquire()
        for run in others:
            telemetry.tell(run)
        assert telemetry.lost == {"slow": 3}
        slow.open.set()
        await telemetry.flush(PATIENCE)
    assert slow.taken == runs(3)


async def test_the_queue_has_a_bound_of_its_own() -> None:
    telemetry = Telemetry({"nobody": Receiver()})
    for run in runs(CAPACITY + 7):
        telemetry.tell(run)
    assert telemetry.lost == {"nobody": 7}


@pytest.mark.parametrize(
    "trouble", [Invalid("out of range"), Unavailable("nobody there"), ZeroDivisionError()]
)
async def test_what_is_refused_is_lost_and_the_next_is_told(trouble: Exception) -> None:
    receiver = Receiver(trouble)
    telemetry = Telemetry({"one": receiver}, rest_seconds=0)
    async with telling(telemetry):
        for run in runs(2):
            telemetry.tell(run)
        await telemetry.flush(PATIENCE)
    assert receiver.taken == runs(2)[1:]
    assert telemetry.lost == {"one": 1}


async def test_after_a_failure_nothing_is_tried_for_a_while() -> None:
    receiver = Receiver(Unavailable("nobody there"))
    telemetry = Telemetry({"one": receiver}, rest_seconds=3600)
    async with telling(telemetry):
        for run in runs(2):
            telemetry.tell(run)
        async with asyncio.timeout(PATIENCE):
            await receiver.asked.acquire()
        for _ in range(10):
            await asyncio.sleep(0)
        assert receiver.asked.locked(), "the second one waits"
        await telemetry.flush(0)


async def test_a_run_is_kept_by_the_ledger(queue_db: str, as_worker: str) -> None:
    with psycopg.connect(queue_db, autocommit=True) as connection:
        connection.execute("select plane.create_queue('q')")
        warm = WarmConnection(as_worker, application_name="test")
        telemetry = Telemetry({"ledger": to_ledger(warm, "q", "w")}, rest_seconds=0)
        refused = dataclasses.replace(RUN, outcome="strange")
        async with telling(telemetry):
            telemetry.tell(refused)
            telemetry.tell(RUN)
            await telemetry.flush(PATIENCE)
        await warm.close()
        assert telemetry.lost == {"ledger": 1}
        found = connection.execute(
            "select queue, worker, job_id, attempt, operation, version, outcome, cache, started_at,"
            " queue_wait_ms, wall_ms, cpu_ms, rss_bytes from plane.worker_runs"
        ).fetchall()
    assert found == [("q", "w", *dataclasses.astuple(RUN))]


async def test_a_meter_measures_what_the_ledger_can_keep() -> None:
    claim = dataclasses.replace(a_claim(5, 1), cache_key="key")
    waited = dataclasses.replace(
        claim, lease_expires_at=claim.created_at + timedelta(seconds=121.5)
    )
    run = Meter(waited, 120).run("done", "hit", 12.5)
    assert (run.job_id, run.attempt, run.operation, run.version) == (5, 1, "o", 1)
    assert (run.outcome, run.cache, run.wall_ms, run.queue_wait_ms) == ("done", "hit", 12.5, 1500)
    assert run.cpu_ms >= 0
    assert run.rss_bytes is None or run.rss_bytes > 2**20
    early = dataclasses.replace(claim, lease_expires_at=claim.created_at)
    assert Meter(early, 120).run("done", None, 1).queue_wait_ms == 0


@pytest.mark.parametrize("change", [{"attempt": 2}, {"cache_key": None}])
async def test_how_long_a_job_waited_is_not_always_known(change: dict[str, Any]) -> None:
    claim = dataclasses.replace(a_claim(), **{"cache_key": "key"} | change)
    assert Meter(claim, 120).run("done", None, 1).queue_wait_ms is None


# The webhook --------------------------------------------------------------------------------------

Answer = Callable[[httpx2.Request], Coroutine[None, None, httpx2.Response]]


@asynccontextmanager
async def webhook(answer: Answer, seconds: float = PATIENCE) -> AsyncIterator[Webhook]:
    hook = Webhook(
        "https://telemetry.example/worker/job-finished?key=hunter2",
        "q",
        "w",
        transport=httpx2.MockTransport(answer),
        seconds=seconds,
    )
    yield hook
    await hook.close()


async def test_the_webhook_is_told_in_json() -> None:
    asked: list[httpx2.Request] = []

    async def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(request)
        return httpx2.Response(204)

    async with webhook(answer) as hook:
        await hook.send(RUN)
    (request,) = asked
    assert (request.method, request.url.path) == ("POST", "/worker/job-finished")
    assert request.headers["content-type"] == "application/json"
    assert json.loads(request.content) == {
        "queue": "q",
        "worker": "w",
        "jobId": "9007199254740993",
        "attempt": 1,
        "operation": "echo",
        "version": 2,
        "outcome": "done",
        "cache": None,
        "startedAt": "2026-01-02T03:04:05+00:00",
        "queueWaitMs": 1.5,
        "wallMs": 20.25,
        "cpuMs": 3.0,
        "rssBytes": 50_000_000,
    }


@pytest.mark.parametrize("status", [301, 307, 400, 404, 500, 503])
async def test_what_the_webhook_does_not_take_is_not_tried_again(status: int) -> None:
    asked: list[httpx2.Request] = []

    async def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(request)
        return httpx2.Response(status, headers={"Location": "https://elsewhere.example/"})

    async with webhook(answer) as hook:
        with pytest.raises(WebhookError, match=f"it answered {status}"):
            await hook.send(RUN)
    assert len(asked) == 1


async def test_a_webhook_that_does_not_answer_is_left_after_its_time() -> None:
    async def hang(request: httpx2.Request) -> httpx2.Response:
        await asyncio.Event().wait()
        raise AssertionError

    async with webhook(hang, seconds=0.01) as hook:
        with pytest.raises(WebhookError, match=r"no answer within 0\.01 s"):
            await hook.send(RUN)


async def test_an_answer_without_end_is_not_read_to_its_end() -> None:
    sent = 0

    async def drip() -> AsyncIterator[bytes]:
        nonlocal sent
        while True:
            sent += 1
            yield b"x" * 1024

    async def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, content=drip())

    async with webhook(answer) as hook:
        await hook.send(RUN)
    assert sent == ANSWER_BYTES // 1024 + 1


async def test_a_webhook_that_is_away_tells_no_secrets() -> None:
    async def broken(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError(f"cannot reach {request.url}")

    async with webhook(broken) as hook:
        with pytest.raises(WebhookError) as raised:
            await hook.send(RUN)
    assert "hunter2" not in str(raised.value)
    assert raised.value.__cause__ is None


async def test_a_slow_ledger_is_left_too(queue_db: str) -> None:
    """The connection's own limit ends a call that a lock holds up."""
    with psycopg.connect(queue_db) as holder:
        holder.execute("select plane.create_queue('q')")
        holder.commit()
        holder.execute("lock table plane.run in access exclusive mode")
        warm = WarmConnection(queue_db, application_name="test", seconds=0.1)
        telemetry = Telemetry({"ledger": to_ledger(warm, "q", "w")}, rest_seconds=0)
        async with telling(telemetry):
            telemetry.tell(RUN)
            await telemetry.flush(PATIENCE)
        await warm.close()
        assert telemetry.lost == {"ledger": 1}
