"""Upkeep: rounds of steps, far apart, whatever comes of them."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from pgplane.errors import LedgerError, Unavailable
from pgplane.ledger.records import Step
from pgplane.worker import upkeep as module
from pgplane.worker.upkeep import Upkeep

from ..support.scripted import ScriptedConnection

PATIENCE = 20.0
REMOVED = [Step("removed", "ids 0 to 9")]
LEFT = [Step("left", "another session is at it")]


class Watched(ScriptedConnection):
    """Tells when its last answer has been given and it was closed after it; then hangs."""

    def __init__(
        self, *answers: list[Step] | LedgerError, reaped: Sequence[int | LedgerError] = (0,)
    ) -> None:
        super().__init__(maintain=list(answers), reap_blobs=list(reaped))
        self.rounds: list[int] = []
        self.finished = asyncio.Event()
        self._count = len(answers) + len(reaped)

    async def call(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if len(self.calls) == self._count:
            await asyncio.Event().wait()
        return await super().call(function, *args, **kwargs)

    async def close(self) -> None:
        self.rounds.append(len(self.calls))
        if len(self.calls) == self._count:
            self.finished.set()


@asynccontextmanager
async def maintaining(connection: Watched, reap_seconds: float = 3600) -> AsyncIterator[None]:
    task = asyncio.create_task(Upkeep(connection, reap_seconds=reap_seconds).run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.fixture
def without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAUSE_SECONDS", 0.0)


@pytest.mark.usefixtures("without_pauses")
async def test_a_round_goes_on_until_nothing_is_done() -> None:
    connection = Watched(REMOVED, REMOVED, [], LEFT, REMOVED, LEFT)
    async with maintaining(connection), asyncio.timeout(PATIENCE):
        await connection.finished.wait()
    assert connection.rounds[:3] == [4, 5, 7], "after each round its connection is closed"


@pytest.mark.usefixtures("without_pauses")
async def test_an_outage_is_left_to_the_next_round() -> None:
    connection = Watched(REMOVED, Unavailable("nobody there"), LedgerError("cancelled"), [])
    async with maintaining(connection), asyncio.timeout(PATIENCE):
        await connection.finished.wait()
    assert connection.rounds[:3] == [3, 4, 5]


@pytest.mark.usefixtures("without_pauses")
async def test_blobs_are_removed_until_none_is_left_and_not_in_every_round() -> None:
    connection = Watched([], [], [], reaped=[1000, 7, 0])
    async with maintaining(connection), asyncio.timeout(PATIENCE):
        await connection.finished.wait()
    assert [name for name, _ in connection.calls] == [
        *("maintain", "reap_blobs", "reap_blobs", "reap_blobs"),
        *("maintain", "maintain"),
    ]


@pytest.mark.usefixtures("without_pauses")
async def test_blobs_are_removed_again_after_their_pause() -> None:
    connection = Watched([], [], reaped=[0, 0])
    async with maintaining(connection, reap_seconds=0), asyncio.timeout(PATIENCE):
        await connection.finished.wait()
    assert connection.rounds == [2, 4]


@pytest.mark.usefixtures("without_pauses")
async def test_blobs_that_an_outage_left_are_removed_in_the_next_round() -> None:
    connection = Watched([], [], reaped=[1000, Unavailable("nobody there"), 0])
    async with maintaining(connection), asyncio.timeout(PATIENCE):
        await connection.finished.wait()
    assert connection.rounds == [3, 5]


@pytest.mark.usefixtures("without_pauses")
async def test_blobs_are_removed_whatever_became_of_the_rest() -> None:
    connection = Watched(LedgerError("refused"), [])
    async with maintaining(connection), asyncio.timeout(PATIENCE):
        await connection.finished.wait()
    assert [name for name, _ in connection.calls] == ["maintain", "reap_blobs", "maintain"]


async def test_the_first_round_is_not_at_once() -> None:
    """Workers that start together do not maintain together."""
    connection = Watched(REMOVED)
    async with maintaining(connection):
        for _ in range(10):
            await asyncio.sleep(0)
    assert connection.calls == []
