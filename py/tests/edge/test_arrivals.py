"""Arrivals: what those who come together share, and what becomes of each of them."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from pgplane import ledger
from pgplane.edge.app import create_app
from pgplane.edge.replies import arrivals as arrivals_module
from pgplane.edge.replies.arrivals import MAX_BYTES, MAX_TOGETHER
from pgplane.edge.replies.bursts import GATHER_SECONDS
from pgplane.edge.replies.pump import ReplyPump
from pgplane.edge.replies.waiters import Waiter
from pgplane.errors import Busy, Unavailable

from ..support.edges import Plane, ask, on_a_port, until
from ..support.issuer import Issuer
from ..support.sessions import Stage
from .database import KEY, OWN, QUEUE, Database, job


@pytest.fixture
def database() -> Database:
    return Database()


class Slow(Database):
    """A database that answers when the gate is opened."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = asyncio.Event()
        self.gate = asyncio.Event()

    async def call(self, function: Any, *args: Any) -> Any:
        self.asked.set()
        await self.gate.wait()
        return await super().call(function, *args)


@pytest.fixture
def pump(database: Database) -> ReplyPump:
    return ReplyPump(database, 3600)  # type: ignore[arg-type]


def come(pump: ReplyPump, *job_ids: int) -> "asyncio.Future[list[Waiter | None]]":
    return asyncio.gather(*(pump.attach(QUEUE, job_id, (KEY, OWN), 60) for job_id in job_ids))


async def test_five_hundred_at_once_cost_at_most_ten_calls(
    pump: ReplyPump, database: Database
) -> None:
    database.jobs = {n: job(n, scope_key=KEY if n % 2 else OWN) for n in range(500)}
    found = await come(pump, *range(500))
    assert [waiter.job_id for waiter in found if waiter and waiter.job] == list(range(500))
    assert len(database.calls) <= 10
    assert max(map(len, database.awaited)) <= MAX_TOGETHER
    assert len(pump) == 500


async def test_one_that_comes_alone_is_not_kept(
    pump: ReplyPump, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []

    def never(seconds: float, *_args: Any) -> None:
        pauses.append(seconds)

    database.jobs[7] = job(7)
    monkeypatch.setattr(asyncio.get_running_loop(), "call_later", never)
    assert await pump.attach(QUEUE, 7, (KEY,), 60)
    assert pauses == [GATHER_SECONDS], "the pause comes behind it"


async def test_who_comes_while_others_are_on_their_way_goes_with_the_next() -> None:
    database = Slow()
    pump = ReplyPump(database, 3600)  # type: ignore[arg-type]
    database.jobs = {n: job(n) for n in range(100)}
    first = come(pump, 0)
    await database.asked.wait()
    others = come(pump, *range(1, 100))
    database.gate.set()
    assert all(await first + await others)
    assert list(map(len, database.awaited)) == [1, 99]


async def test_each_is_answered_for_himself(pump: ReplyPump, database: Database) -> None:
    database.jobs = {1: job(1), 2: job(2, scope_key="c" * 64), 3: job(3, "done", OWN)}
    mine, theirs, ended, none = await come(pump, 1, 2, 3, 4)
    assert (mine and mine.scope_key, theirs, none) == (KEY, None, None)
    assert ended is not None
    assert (ended.scope_key, ended.ended) == (OWN, True)
    assert len(pump) == 2


async def test_surfaces_do_not_mix(pump: ReplyPump, database: Database) -> None:
    database.jobs = {1: job(1)}
    await asyncio.gather(*(pump.attach(f"surface-{name}", 1, (KEY,), 60) for name in "abab"))
    assert sorted(database.calls) == ["await_jobs"] * 2 + ["register_waiters"] * 2


async def test_those_share_a_call_who_wait_about_as_long_and_none_for_less(
    pump: ReplyPump, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: dict[float, list[int]] = {}
    register = database.register_waiters

    def noted(queue: str, waiting: Any, wait: timedelta) -> Any:
        assert wait.total_seconds() not in waits, "one call for all of them"
        waits[wait.total_seconds()] = [job_id for job_id, _, _ in waiting]
        return register(queue, waiting, wait)

    monkeypatch.setattr(database, "register_waiters", noted)
    asked = [0, 0.2, 10, 10.2, 20, 51, 60, 600]
    database.jobs = {n: job(n) for n in range(len(asked))}
    assert all(
        await asyncio.gather(
            *(pump.attach(QUEUE, n, (KEY,), seconds) for n, seconds in enumerate(asked))
        )
    )
    assert waits == {10: [0, 1, 2], 20: [3, 4], 60: [5, 6], 600: [7]}


async def test_an_outage_is_told_to_all(pump: ReplyPump, database: Database) -> None:
    database.down = True
    found = await asyncio.gather(
        *(pump.attach(QUEUE, n, (KEY,), 60) for n in range(3)), return_exceptions=True
    )
    assert [type(error) for error in found] == [Unavailable] * 3
    database.down = False
    database.jobs[7] = job(7)
    assert await pump.attach(QUEUE, 7, (KEY,), 60)


async def test_who_goes_before_he_is_noted_leaves_nothing() -> None:
    database = Slow()
    pump = ReplyPump(database, 3600)  # type: ignore[arg-type]
    database.jobs = {1: job(1), 2: job(2)}
    gone, stays = (asyncio.ensure_future(pump.attach(QUEUE, n, (KEY,), 60)) for n in (1, 2))
    await database.asked.wait()
    gone.cancel()
    database.gate.set()
    assert await stays
    assert gone.cancelled()
    assert len(pump) == 1


@pytest.mark.parametrize("fault", [None, Unavailable("the queue database is unreachable")])
async def test_of_those_who_come_as_one_none_stays_without_the_others(
    monkeypatch: pytest.MonkeyPatch, fault: Unavailable | None
) -> None:
    """The first has arrived when the one who brought them goes, or the second cannot be read."""
    monkeypatch.setattr(arrivals_module, "MAX_TOGETHER", 1)
    gate = asyncio.Event()

    class Halting(Database):
        async def call(self, function: Any, *args: Any) -> Any:
            if function is ledger.await_jobs and args[1] == [(2, KEY)]:
                await gate.wait()
                raise fault or AssertionError("nobody asks any more")
            return await super().call(function, *args)

    database = Halting()
    pump = ReplyPump(database, 3600)  # type: ignore[arg-type]
    database.jobs = {1: job(1), 2: job(2)}
    coming = asyncio.ensure_future(pump.attach_all(QUEUE, [1, 2], (KEY,), 60))
    await until(lambda: bool(database.awaited) and len(pump) == 2)
    if fault is None:
        coming.cancel()
    gate.set()
    with pytest.raises(Unavailable if fault else asyncio.CancelledError):
        await coming
    assert len(pump) == 0


async def test_an_ending_that_takes_its_time_holds_up_nobody_else(
    pump: ReplyPump, database: Database
) -> None:
    def stuck() -> None:
        raise Busy("canceling statement due to lock timeout")

    database.before_read = stuck
    database.jobs = {n: job(n) for n in range(20)}
    found = await come(pump, *range(20))
    assert all(waiter is not None and waiter.job is not None for waiter in found)
    assert len(database.reads) == 1


async def test_what_cannot_be_read_in_time_is_busy(pump: ReplyPump, database: Database) -> None:
    def stuck() -> None:
        raise Busy("the queue database takes too long")

    database.before_read = stuck
    database.most = 0
    database.jobs[7] = job(7)
    with pytest.raises(Busy):
        await pump.attach(QUEUE, 7, (KEY,), 60)
    assert len(pump) == 0


@pytest.mark.parametrize(("lines", "most"), [(1, MAX_BYTES), (4, MAX_BYTES // 4)])
async def test_large_answers_are_left_for_the_pump(
    database: Database, lines: int, most: int
) -> None:
    """Five hundred of a MiB, which nobody has room for: those are told who come first."""
    pump = ReplyPump(database, 3600, lines=lines)  # type: ignore[arg-type]
    large = b"x" * 1024**2
    database.jobs = {n: replace(job(n, "done"), result=large) for n in range(MAX_TOGETHER)}
    found = [waiter for waiter in await come(pump, *range(MAX_TOGETHER)) if waiter]
    read = [waiter for waiter in found if waiter.job is not None]
    assert len(found) == MAX_TOGETHER
    assert len(read) == len(pump) == most / len(large)
    assert database.largest == most
    running = asyncio.create_task(pump.run())
    for waiter in found[len(read) :]:
        pump.resume(waiter)
    assert all(await asyncio.gather(*(waiter.until_ended(20) for waiter in found)))
    running.cancel()


@pytest.mark.parametrize(("pool_size", "lines"), [(1, 1), (4, 1), (8, 2), (20, 5)])
async def test_a_pool_has_lines_for_arrivals_by_its_size(
    settings: Any, pool_size: int, lines: int
) -> None:
    app = create_app(settings.model_copy(update={"pool_size": pool_size}))
    assert app.state.edge.pump._arrivals._lines._value == lines


async def test_streams_open_beside_an_ending_that_is_not_committed(
    plane: Plane, stage: Stage, settings: Any, issuer: Issuer, as_worker: str
) -> None:
    (worker,) = stage.enter(as_worker)
    async with on_a_port(settings) as (client, _):
        asked = [await ask(client, issuer, params={"n": n}) for n in range(4)]
        job_id, attempt = worker.row(
            "select job_id, attempt from plane.claim_one('surface-flights', 'w')"
        )
        worker.begin()
        assert worker.value("select plane.complete_job(%s, %s, '1')", job_id, attempt)

        async def open_one(url: str) -> bytes:
            async with client.stream("GET", url) as response:
                assert response.status_code == 200
                return await anext(response.aiter_bytes())

        first = await asyncio.gather(*(open_one(one["streamUrl"]) for one in asked))
        assert all(b"event: queued" in chunk for chunk in first)
        worker.commit()


async def test_what_two_calls_do_for_one_two_do_for_many(
    plane: Plane, settings: Any, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the database itself: fifty streams that are opened at once."""
    calls: list[str] = []
    for name in ("register_waiters", "await_jobs", "get_results"):
        real = getattr(ledger, name)

        async def counted(*args: Any, real: Any = real, name: str = name) -> Any:
            calls.append(name)
            return await real(*args)

        monkeypatch.setattr(ledger, name, counted)
    quiet = settings.model_copy(update={"sweep_seconds": 3600})
    async with on_a_port(quiet) as (client, parts):
        asked = [await ask(client, issuer, params={"n": n}) for n in range(50)]
        keys = await _keys(parts, issuer)
        calls.clear()
        found = await asyncio.gather(
            *(parts.pump.attach(QUEUE, int(one["jobId"]), keys, 60) for one in asked)
        )
        assert all(waiter is not None and waiter.job is not None for waiter in found)
        assert set(calls) == {"await_jobs", "register_waiters"}
        assert len(calls) == 2
    noted = plane.look("select count(*), count(distinct waiter) from plane.waiter")
    assert noted == [(50, 1)]


async def _keys(parts: Any, issuer: Issuer) -> tuple[str, ...]:
    caller = await parts.access._verifier.caller(issuer.bearer()["Authorization"])
    keys: tuple[str, ...] = await parts.access._scope_keys.of(caller)
    return keys
