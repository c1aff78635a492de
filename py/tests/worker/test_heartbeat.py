"""The heartbeat: renewals in one call, what it learns from them, and outages."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pgplane.errors import Unavailable
from pgplane.ledger.records import Claim, Renewal
from pgplane.worker import heartbeat as module
from pgplane.worker.heartbeat import Heartbeat
from pgplane.worker.held import HeldJob

from ..support.scripted import ScriptedConnection, a_claim

PATIENCE = 20.0
LEASE = timedelta(seconds=120)


class Watched(ScriptedConnection):
    """Lets a test wait for a call."""

    def __init__(self, **answers: list[Any]) -> None:
        super().__init__(**answers)
        self._changed = asyncio.Condition()

    async def call(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        try:
            return await super().call(function, *args, **kwargs)
        finally:
            async with self._changed:
                self._changed.notify_all()

    async def until_called(self, name: str, times: int) -> None:
        """Wait until a function was called so often."""
        async with self._changed, asyncio.timeout(PATIENCE):
            await self._changed.wait_for(lambda: len(self.called(name)) >= times)


@asynccontextmanager
async def beating(
    ledger: Watched, held: dict[int, HeldJob], sweep_seconds: float = 60
) -> AsyncIterator[Heartbeat]:
    heartbeat = Heartbeat(
        ledger,
        worker="w",
        queue="q",
        info="{}",
        manifest="[]",
        held=held,
        sweep_seconds=sweep_seconds,
    )
    await heartbeat.register()
    task = asyncio.create_task(heartbeat.run())
    try:
        yield heartbeat
        assert not task.done()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def registered(*more: Any) -> dict[str, list[Any]]:
    return {"register_worker": [LEASE, *more], "register_manifest": [None] * (1 + len(more))}


async def test_all_that_is_held_is_renewed_in_one_call() -> None:
    held = {n: HeldJob(a_claim(n, attempt=n), 120) for n in (1, 2, 3)}
    ledger = Watched(**registered(), renew_leases=[[Renewal(n, "held", LEASE) for n in held]])
    async with beating(ledger, held) as heartbeat:
        heartbeat.soon()
        await ledger.until_called("renew_leases", 1)
    assert ledger.called("renew_leases") == [("w", [(1, 1), (2, 2), (3, 3)])]
    assert [job.reason for job in held.values()] == [None, None, None]


async def test_a_lost_or_cancelled_job_is_stopped() -> None:
    held = {n: HeldJob(a_claim(n), 120) for n in (1, 2)}
    states = [Renewal(1, "lost", None), Renewal(2, "cancelling", LEASE)]
    ledger = Watched(**registered(), renew_leases=[states, []])
    async with beating(ledger, held) as heartbeat:
        heartbeat.soon()
        await ledger.until_called("renew_leases", 1)
        heartbeat.soon()
        await ledger.until_called("renew_leases", 2)
    assert [job.reason for job in held.values()] == ["lost", "cancelling"]


async def test_a_job_beyond_its_time_is_not_renewed() -> None:
    held = {n: HeldJob(a_claim(n), 120) for n in (1, 2, 3)}
    held[1].stop("timeout")
    held[2].stop("shutdown")
    ledger = Watched(**registered(), renew_leases=[[]])
    async with beating(ledger, held) as heartbeat:
        heartbeat.soon()
        await ledger.until_called("renew_leases", 1)
    assert ledger.called("renew_leases") == [("w", [(2, 1), (3, 1)])]


def test_a_job_that_is_deaf_to_its_cancel_is_renewed_for_one_lease() -> None:
    patient, impatient = HeldJob(a_claim(), 60), HeldJob(a_claim(), 0)
    for job in (patient, impatient):
        job.stop("cancelling")
    assert patient.renewable
    assert not impatient.renewable


async def test_after_an_outage_it_registers_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RETRY_SECONDS", 0.001)
    ledger = Watched(**registered(LEASE), renew_leases=[Unavailable("nobody there"), []])
    async with beating(ledger, {}) as heartbeat:
        heartbeat.soon()
        await ledger.until_called("renew_leases", 2)
    assert [name for name, _ in ledger.calls] == [
        "register_worker",
        "register_manifest",
        "renew_leases",
        "register_worker",
        "register_manifest",
        "renew_leases",
    ]


async def test_it_beats_every_third_of_the_lease_and_sweeps_by_the_way() -> None:
    ledger = Watched(
        register_worker=[timedelta(seconds=0.03)],
        register_manifest=[None],
        renew_leases=[[]] * 100,
        sweep=[0] * 100,
    )
    async with beating(ledger, {}, sweep_seconds=0.01):
        await ledger.until_called("renew_leases", 2)
        await ledger.until_called("sweep", 2)


async def test_a_lease_that_was_changed_is_learnt_from_what_is_held() -> None:
    held = {1: HeldJob(a_claim(), 120)}
    short = [Renewal(1, "held", timedelta(seconds=0.03))]
    ledger = Watched(**registered(), renew_leases=[short] * 100)
    async with beating(ledger, held) as heartbeat:
        heartbeat.soon()
        await ledger.until_called("renew_leases", 3)  # beating goes on as the lease now demands
    assert held[1].lease_seconds_left <= 0.03


async def test_a_claim_whose_lease_ends_otherwise_than_others_is_renewed_at_once() -> None:
    held = {1: HeldJob(a_claim(), 120)}
    long, short = timedelta(seconds=60), timedelta(seconds=9)
    renewals = [[Renewal(1, "held", lease)] for lease in (long, long, short)]
    ledger = Watched(**registered(), renew_leases=renewals)
    there = datetime.now(UTC) + timedelta(hours=5)  # by a clock that is far ahead of ours
    async with beating(ledger, held) as heartbeat:
        for beats in (1, 2):  # of the lease that was learnt by the first beat, no claim was seen
            heartbeat.claimed(until(there + long))
            await ledger.until_called("renew_leases", beats)
            await settled()
            assert heartbeat.lease_seconds == 60
        heartbeat.claimed(until(there + long))
        await settled()
        assert len(ledger.called("renew_leases")) == 2, "another like it asks for nothing"
        heartbeat.claimed(until(there + short))
        await ledger.until_called("renew_leases", 3)
        await settled()
        assert heartbeat.lease_seconds == 9
        assert held[1].lease_seconds_left <= 9


async def test_of_a_claim_that_has_ended_the_lease_is_learnt_from_the_queue() -> None:
    ledger = Watched(
        register_worker=[LEASE, timedelta(seconds=6)],
        register_manifest=[None],
        renew_leases=[[]],
    )
    async with beating(ledger, {}) as heartbeat:
        heartbeat.claimed(until(datetime.now(UTC) + timedelta(seconds=6)))
        await ledger.until_called("register_worker", 2)
        await settled()
        assert heartbeat.lease_seconds == 6


async def test_it_beats_for_the_cancel_of_what_is_held_and_for_no_other() -> None:
    held = {7: HeldJob(a_claim(7), 120)}
    ledger = Watched(**registered(), renew_leases=[[Renewal(7, "cancelling", LEASE)], []])
    async with beating(ledger, held) as heartbeat:
        for others in ("", "1", "77,70,1", "7;8", "seven", "-7", "7.0"):
            heartbeat.cancelled(others)
        await settled()
        assert ledger.called("renew_leases") == []
        heartbeat.cancelled("1,7,9")
        await ledger.until_called("renew_leases", 1)
        await settled()
    assert held[7].reason == "cancelling"


async def test_it_beats_for_a_cancel_that_was_heard_before_its_claim() -> None:
    held: dict[int, HeldJob] = {}
    ledger = Watched(**registered(LEASE), renew_leases=[[], []])
    ends = datetime.now(UTC) + LEASE
    async with beating(ledger, held) as heartbeat:
        heartbeat.claimed(until(ends))
        await ledger.until_called("renew_leases", 1)  # for the first lease that is seen
        await settled()
        heartbeat.cancelled("5,7")
        heartbeat.claimed(dataclasses.replace(until(ends), job_id=6))
        await settled()
        assert len(ledger.called("renew_leases")) == 1
        heartbeat.claimed(dataclasses.replace(until(ends), job_id=7))
        await ledger.until_called("renew_leases", 2)


def until(lease_expires_at: datetime) -> Claim:
    """A claim whose lease ends then."""
    return dataclasses.replace(a_claim(), lease_expires_at=lease_expires_at)


async def settled() -> None:
    """Let the heartbeat do what it has to."""
    for _ in range(10):
        await asyncio.sleep(0)
