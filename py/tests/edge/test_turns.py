"""Turns: one caller's many questions are not another's loss."""

import asyncio

import pytest

from pgplane.edge import turns as module
from pgplane.edge.checking import checks
from pgplane.edge.turns import Turns
from pgplane.errors import Busy
from pgplane.settings import Settings

from ..support.edges import Plane, in_process, until
from ..support.issuer import Issuer


class Line:
    """Callers who want a turn, and hold it until they are told to go on."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self.had: list[str] = []
        self.on = asyncio.Event()

    def come(self, name: str) -> asyncio.Task[None]:
        return asyncio.create_task(self._come(name))

    async def _come(self, name: str) -> None:
        async with self._turns.of(name):
            self.had.append(name)
            await self.on.wait()


async def test_callers_take_turns() -> None:
    turns = Turns(2)
    line = Line(turns)
    tasks = [line.come(name) for name in ("ann",) * 6 + ("bob", "bob", "cleo")]
    await until(lambda: len(line.had) == 2)
    line.on.set()
    await asyncio.gather(*tasks)
    assert line.had == ["ann", "ann", "ann", "bob", "cleo", "ann", "bob", "ann", "ann"]
    assert (turns._free, dict(turns._waiting)) == (2, {})


async def test_who_goes_away_takes_no_turn_along() -> None:
    turns = Turns(1)
    line = Line(turns)
    first = line.come("ann")
    await until(lambda: line.had == ["ann"])
    gone, stays, other = line.come("bob"), line.come("bob"), line.come("ann")
    await until(lambda: sum(map(len, turns._waiting.values())) == 3)
    gone.cancel()
    await asyncio.gather(gone, return_exceptions=True)
    line.on.set()
    await asyncio.gather(first, stays, other)
    assert line.had == ["ann", "bob", "ann"]
    assert turns._free == 1


async def test_a_turn_that_comes_as_its_caller_goes_is_the_nexts() -> None:
    turns = Turns(1)
    line = Line(turns)
    first = line.come("ann")
    await until(lambda: line.had == ["ann"])
    gone, stays = line.come("bob"), line.come("cleo")
    await until(lambda: len(turns._waiting) == 2)
    turns._end()
    gone.cancel()
    await until(lambda: line.had == ["ann", "cleo"])
    line.on.set()
    await asyncio.gather(first, gone, stays, return_exceptions=True)
    assert gone.cancelled()


async def test_nobody_waits_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WAIT_SECONDS", 0.01)
    turns = Turns(1)
    async with turns.of("ann"):
        with pytest.raises(Busy):
            async with turns.of("bob"):
                pass
    async with turns.of("bob"):
        assert turns._free == 0


async def test_who_asks_much_is_not_answered_before_who_asks_little(
    plane: Plane, settings: Settings, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "WAIT_SECONDS", 60)
    monkeypatch.setattr(checks, "WAIT_SECONDS", 60)
    narrow = settings.model_copy(update={"pool_size": 2})
    answered: list[str] = []
    async with in_process(narrow) as (client, parts):

        async def ask_as(actor: str, number: int) -> None:
            headers = issuer.bearer(actor=actor)
            question = {"operation": "airlines", "params": {"n": number}}
            response = await client.post("/api/flights/q", json=question, headers=headers)
            assert response.status_code == 202
            answered.append(actor)

        for actor in ("ann", "bob"):  # their keys are known by then
            await client.get("/api/flights/openapi.json", headers=issuer.bearer(actor=actor))
        async with parts.manifests._checks._turn:
            many = [asyncio.create_task(ask_as("ann", n)) for n in range(8)]
            await until(lambda: sum(map(len, parts.admission.questions._waiting.values())) == 7)
            one = asyncio.create_task(ask_as("bob", 8))
            await until(lambda: len(parts.admission.questions._waiting) == 2)
        await asyncio.gather(*many, one)
    assert answered.index("bob") == 2
