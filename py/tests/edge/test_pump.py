"""The reply pump: how completions find their waiters, and what that costs the database."""

import asyncio
import math
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from pgplane.edge.replies import pump as pump_module
from pgplane.edge.replies.bursts import GATHER_SECONDS, MAX_GATHER_SECONDS
from pgplane.edge.replies.pump import MAX_BYTES, MAX_READ, ReplyPump
from pgplane.edge.replies.waiters import Waiter
from pgplane.errors import Unavailable
from pgplane.ledger.records import Job

from ..support.edges import until
from .database import KEY, OWN, QUEUE, Database, job


@pytest.fixture
def database() -> Database:
    return Database()


@pytest.fixture
async def pump(database: Database) -> AsyncIterator[ReplyPump]:
    opened = ReplyPump(database, 3600)  # type: ignore[arg-type]
    running = asyncio.create_task(opened.run())
    yield opened
    running.cancel()


async def attach(pump: ReplyPump, database: Database, job_id: int, scope_key: str = KEY) -> Waiter:
    database.jobs.setdefault(job_id, job(job_id, scope_key=scope_key))
    waiter = await pump.attach(QUEUE, job_id, (KEY, OWN), 60)
    assert waiter is not None
    return waiter


def end(pump: ReplyPump, database: Database, job_id: int) -> None:
    """End a job, and tell the pump of it."""
    database.jobs[job_id] = job(job_id, "done")
    pump.notified("plane_done", str(job_id))


async def test_a_waiter_is_registered_before_the_row_is_read(
    pump: ReplyPump, database: Database
) -> None:
    waiter = await attach(pump, database, 7)
    assert database.calls == ["register_waiters", "await_jobs"]
    assert (waiter.scope_key, waiter.ended, len(pump)) == (KEY, False, 1)


async def test_the_callers_own_key_is_tried_too(pump: ReplyPump, database: Database) -> None:
    assert (await attach(pump, database, 7, OWN)).scope_key == OWN


async def test_a_job_of_nobody_leaves_nothing(pump: ReplyPump, database: Database) -> None:
    database.jobs[7] = job(7, scope_key="c" * 64)
    assert await pump.attach(QUEUE, 7, (KEY, OWN), 60) is None
    assert len(pump) == 0


async def test_an_outage_while_attaching_leaves_nothing(
    pump: ReplyPump, database: Database
) -> None:
    database.jobs[7] = job(7)

    def fall() -> None:
        raise Unavailable("the queue database is unreachable")

    database.before_read = fall
    with pytest.raises(Unavailable):
        await pump.attach(QUEUE, 7, (KEY,), 60)
    assert len(pump) == 0


async def test_a_completion_while_attaching_is_not_missed(
    pump: ReplyPump, database: Database
) -> None:
    database.jobs[7] = job(7)

    def finish_just_after() -> None:
        database.before_read = lambda: None
        asyncio.get_running_loop().call_soon(finish)

    def finish() -> None:
        database.jobs[7] = job(7, "done")
        pump.notified("plane_done", "7")

    database.before_read = finish_just_after
    waiter = await pump.attach(QUEUE, 7, (KEY,), 60)
    assert waiter is not None
    assert await waiter.until_ended(5)


async def test_a_burst_of_notifications_costs_one_read(pump: ReplyPump, database: Database) -> None:
    found = [await attach(pump, database, n) for n in range(100)]
    for n in range(100):
        database.jobs[n] = job(n, "done")
        pump.notified("plane_done", f"{n},{n + 1000}")
    assert all(await asyncio.gather(*(waiter.until_ended(5) for waiter in found)))
    assert len(database.reads) == 1


async def test_one_alone_is_read_at_once_and_what_follows_is_gathered(database: Database) -> None:
    pauses: list[float] = []
    over = asyncio.Event()

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        await over.wait()

    pump = ReplyPump(database, 3600, sleep)  # type: ignore[arg-type]
    running = asyncio.create_task(pump.run())
    first, *others = [await attach(pump, database, n) for n in range(4)]
    end(pump, database, 0)
    assert await first.until_ended(20)
    assert database.reads == [[(0, KEY)]]
    for n in range(1, 4):
        end(pump, database, n)
        await asyncio.sleep(0)
    assert len(database.reads) == 1
    over.set()
    assert all(await asyncio.gather(*(waiter.until_ended(20) for waiter in others)))
    assert sorted(database.reads[1]) == [(1, KEY), (2, KEY), (3, KEY)]
    await until(lambda: len(pauses) == 2)
    assert pauses == [GATHER_SECONDS, 3 * GATHER_SECONDS]
    running.cancel()


async def test_many_that_come_at_once_after_a_rest_are_no_burst(database: Database) -> None:
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        await asyncio.sleep(0)

    pump = ReplyPump(database, 3600, sleep)  # type: ignore[arg-type]
    found = [await attach(pump, database, n) for n in range(100)]
    running = asyncio.create_task(pump.run())
    await asyncio.sleep(0)
    for n in range(100):
        end(pump, database, n)
    assert all(await asyncio.gather(*(waiter.until_ended(20) for waiter in found)))
    await until(lambda: bool(pauses))
    assert pauses == [GATHER_SECONDS]
    running.cancel()


async def test_five_hundred_completions_one_by_one_cost_ten_reads(database: Database) -> None:
    pauses: list[float] = []
    pending = list(range(500))

    async def sleep(seconds: float) -> None:
        """Two jobs end each millisecond."""
        pauses.append(seconds)
        for _ in range(min(len(pending), round(2000 * seconds))):
            end(busy, database, pending.pop())
        await asyncio.sleep(0)

    busy = ReplyPump(database, 3600, sleep)  # type: ignore[arg-type]
    running = asyncio.create_task(busy.run())
    found = [await attach(busy, database, n) for n in pending]
    end(busy, database, pending.pop())
    assert all(await asyncio.gather(*(waiter.until_ended(20) for waiter in found)))
    assert len(database.reads[0]) == 1
    assert len(database.reads) <= 10
    assert (pauses[0], max(pauses)) == (GATHER_SECONDS, MAX_GATHER_SECONDS)
    running.cancel()


async def test_a_person_who_waits_twice_is_one_waiter_to_the_database(
    pump: ReplyPump, database: Database
) -> None:
    for _ in range(2):
        await attach(pump, database, 7)
    assert database.waiters == {(7, OWN)}
    assert len(pump) == 2


async def test_fifty_waiters_of_one_job_cost_one_pair(pump: ReplyPump, database: Database) -> None:
    found = [await attach(pump, database, 7) for _ in range(50)]
    database.jobs[7] = job(7, "done")
    pump.notified("plane_done", "7")
    assert all(await asyncio.gather(*(waiter.until_ended(5) for waiter in found)))
    assert database.reads == [[(7, KEY)]]


async def test_a_large_read_is_split(pump: ReplyPump, database: Database) -> None:
    found = [await attach(pump, database, n) for n in range(MAX_READ + 1)]
    for n in range(MAX_READ + 1):
        database.jobs[n] = job(n, "done")
    pump.read_all()
    assert all(await asyncio.gather(*(waiter.until_ended(5) for waiter in found)))
    assert sorted(map(len, database.reads)) == [1, MAX_READ]


async def test_large_answers_are_read_so_many_bytes_at_a_time(
    pump: ReplyPump, database: Database
) -> None:
    """Half a GiB, had it been read at once."""
    found = [await attach(pump, database, n) for n in range(MAX_READ)]
    large = b"x" * 1024**2
    database.jobs = {n: replace(job(n, "done"), result=large) for n in range(MAX_READ)}
    pump.read_all()
    assert all(await asyncio.gather(*(waiter.until_ended(20) for waiter in found)))
    assert all(waiter.job and waiter.job.result == large for waiter in found)
    assert database.largest == MAX_BYTES
    assert len(database.reads) == math.ceil(MAX_READ * len(large) / MAX_BYTES)


async def test_many_large_answers_hold_up_no_other(pump: ReplyPump, database: Database) -> None:
    """What ends while the first of them are told is told next, not behind all of them."""
    told: list[int] = []

    def tell(row: Job) -> None:
        if row.status == "done":
            if not told:
                end(pump, database, 100)
            told.append(row.job_id)

    for n in range(101):
        (await attach(pump, database, n)).listen(tell)
    large = b"x" * 1024**2
    database.jobs.update({n: replace(job(n, "done"), result=large) for n in range(100)})
    pump.notified("plane_done", ",".join(map(str, range(100))))
    await until(lambda: len(told) == 101)
    assert told.index(100) == MAX_BYTES // len(large)
    assert len(database.reads) == math.ceil(100 * len(large) / MAX_BYTES)


async def test_what_is_left_out_is_read_behind_what_ends_meanwhile(
    pump: ReplyPump, database: Database
) -> None:
    """By those who came to large answers, too, and by a sweep while they are read."""
    told: list[int] = []
    large = b"x" * 1024**2
    small = await attach(pump, database, 100)
    small.listen(lambda row: told.append(100) if row.status == "done" else None)
    for n in range(100):
        database.jobs[n] = replace(job(n, "done"), result=large)
        waiter = Waiter(QUEUE, n, KEY)
        waiter.listen(lambda row: told.append(row.job_id))
        pump.resume(waiter)
    end(pump, database, 100)
    pump.read_all()
    await until(lambda: len(told) == 101)
    assert told[0] == 100


async def test_a_read_that_takes_too_long_is_split_until_it_does_not(
    pump: ReplyPump, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pump_module, "RETRY_SECONDS", 0.01)
    found = [await attach(pump, database, n) for n in range(100)]
    database.jobs.update({n: job(n, "done") for n in range(100)})
    database.most = 7
    pump.read_all()
    assert all(await asyncio.gather(*(waiter.until_ended(5) for waiter in found)))


async def test_what_has_ended_is_not_read_again(pump: ReplyPump, database: Database) -> None:
    waiter, other = await attach(pump, database, 7), await attach(pump, database, 8)
    database.jobs[7] = job(7, "done")
    pump.notified("plane_done", "7")
    assert await waiter.until_ended(5)
    database.jobs[8] = job(8, "done")
    pump.read_all()
    assert await other.until_ended(5)
    assert database.reads == [[(7, KEY)], [(8, KEY)]]


async def test_an_answer_that_cannot_be_told_silences_nobody(
    pump: ReplyPump, database: Database
) -> None:
    def fail(row: Job) -> None:
        if row.status == "done":
            raise ValueError("untellable")

    found = [await attach(pump, database, n) for n in range(20)]
    for waiter in found[::2]:
        waiter.listen(fail)
    database.jobs.update({n: job(n, "done") for n in range(20)})
    pump.read_all()
    assert all(await asyncio.gather(*(waiter.until_ended(5) for waiter in found[1::2])))
    assert len(database.reads) == 1


@pytest.mark.parametrize("payload", ["", "8", "x", "7.5", "-7", "８", ",,", "9" * 30, "9" * 5000])
async def test_a_payload_is_only_a_hint(pump: ReplyPump, database: Database, payload: str) -> None:
    waiter = await attach(pump, database, 7)
    pump.notified("plane_done", payload)
    assert not await waiter.until_ended(0)
    assert database.reads == []


async def test_progress_is_read_like_an_end(pump: ReplyPump, database: Database) -> None:
    waiter = await attach(pump, database, 7)
    told: list[bytes | None] = []
    waiter.listen(lambda row: told.append(row.progress))
    database.jobs[7] = replace(job(7, "in_progress"), progress=b'{"done": 1}')
    pump.notified("plane_progress", "7")
    await until(lambda: len(told) == 2)
    assert told == [None, b'{"done": 1}']


async def test_a_row_that_has_not_ended_settles_nobody(pump: ReplyPump, database: Database) -> None:
    waiter = await attach(pump, database, 7)
    told: list[str] = []
    waiter.listen(lambda row: told.append(row.status))
    database.jobs[7] = job(7, "in_progress")
    pump.read_all()
    await until(lambda: len(told) == 2)
    assert told == ["pending", "in_progress"]
    assert not waiter.ended


async def test_an_end_is_never_taken_back(pump: ReplyPump, database: Database) -> None:
    waiter = await attach(pump, database, 7)
    waiter.offer(job(7, "done"))
    waiter.offer(job(7, "pending"))
    assert waiter.ended


async def test_one_scope_is_not_told_of_another(pump: ReplyPump, database: Database) -> None:
    waiter = await attach(pump, database, 7)
    stranger = Waiter(QUEUE, 7, OWN)
    pump._waiting[7].add(stranger)
    database.jobs[7] = job(7, "done")
    pump.notified("plane_done", "7")
    assert await waiter.until_ended(5)
    assert stranger.job is None


async def test_an_outage_is_ridden_out(
    pump: ReplyPump, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pump_module, "RETRY_SECONDS", 0.01)
    waiter = await attach(pump, database, 7)
    database.jobs[7] = job(7, "done")
    database.down = True
    pump.notified("plane_done", "7")
    await until(lambda: database.calls.count("get_results") >= 3)
    database.down = False
    assert await waiter.until_ended(5)


async def test_the_sweep_reads_every_waiting_row_in_one_query(database: Database) -> None:
    pump = ReplyPump(database, 0.01)  # type: ignore[arg-type]
    tasks = [asyncio.create_task(pump.run()), asyncio.create_task(pump.sweep())]
    found = [await attach(pump, database, n) for n in range(20)]
    database.jobs.update({n: job(n, "done") for n in range(20)})
    assert all(await asyncio.gather(*(waiter.until_ended(5) for waiter in found)))
    assert len(database.reads[-1]) == 20
    for waiter in found:
        pump.detach(waiter)
        pump.detach(waiter)
    assert len(pump) == 0
    for task in tasks:
        task.cancel()


async def test_nobody_waiting_costs_nothing(pump: ReplyPump, database: Database) -> None:
    pump.read_all()
    pump.notified("plane_done", "1,2,3")
    await asyncio.sleep(0)
    assert database.calls == []
