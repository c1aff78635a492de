"""Output: blobs in pieces, each sent once, and progress that holds nothing up."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import psycopg
import pytest

from pgplane.errors import Conflict, Invalid, Refusal, Unavailable
from pgplane.worker import output as module
from pgplane.worker.output import PIECE_BYTES, Output

from ..conftest import ClientDatabase
from ..support.scripted import ScriptedConnection

PATIENCE = 20.0


def output(connection: ScriptedConnection) -> Output:
    return Output(connection, 7, 2)


def pieces(connection: ScriptedConnection) -> list[bytes]:
    """The bytes of each call, in their order."""
    return [args[-1] for _, args in connection.calls]


@pytest.mark.parametrize(
    "writes",
    [
        [],
        [b""],
        [b"a", b"bc"],
        [b"x" * (PIECE_BYTES - 1), b"yz"],
        [b"x" * PIECE_BYTES],
        [b"x" * (2 * PIECE_BYTES + 5), b"y" * (PIECE_BYTES - 5)],
        [bytes([n]) * 300_000 for n in range(10)],
    ],
    ids=["nothing", "no bytes", "little", "over an edge", "one piece", "edges", "many"],
)
async def test_what_is_written_is_sent_in_pieces_of_one_mebibyte(writes: list[bytes]) -> None:
    connection = ScriptedConnection(put_blob=[3], append_blob=[0] * 9)
    work = output(connection)
    async with work.blob("text/plain", "all.txt") as blob:
        for data in writes:
            await blob.write(data)

    whole = b"".join(writes)
    sent = pieces(connection)
    assert b"".join(sent) == whole
    assert {len(piece) for piece in sent[:-1]} <= {PIECE_BYTES}
    assert len(sent) == max(1, -(-len(whole) // PIECE_BYTES))
    assert connection.called("put_blob") == [(7, 2, "text/plain", "all.txt", sent[0])]
    assert [args[:3] for args in connection.called("append_blob")] == [(7, 2, 3)] * (len(sent) - 1)
    assert blob.ref == {
        "blobRef": {
            "blob": 3,
            "contentType": "text/plain",
            "filename": "all.txt",
            "size": len(whole),
        }
    }
    assert work.origin is not None
    assert work.origin.fence == (7, 2)


async def test_a_piece_that_was_not_heard_of_breaks_the_blob() -> None:
    connection = ScriptedConnection(put_blob=[3], append_blob=[Unavailable("nobody there")])
    with suppress(RuntimeError):
        async with output(connection).blob("text/plain") as blob:
            with pytest.raises(Unavailable):
                await blob.write(b"x" * 3 * PIECE_BYTES)
            with pytest.raises(RuntimeError, match="finished, or broken"):
                await blob.write(b"y")
    assert len(connection.calls) == 2, "nothing is sent behind a hole"
    with pytest.raises(RuntimeError, match="not written"):
        _ = blob.ref


async def test_a_broken_blob_is_not_finished_in_silence() -> None:
    connection = ScriptedConnection(put_blob=[Unavailable("nobody there")])

    async def carry_on() -> None:
        async with output(connection).blob("text/plain") as blob:
            with pytest.raises(Unavailable):
                await blob.write(b"x" * PIECE_BYTES)

    with pytest.raises(RuntimeError, match="finished, or broken"):
        await carry_on()


async def test_a_blob_that_cannot_be_called_so_is_refused_for_good() -> None:
    wrong = Invalid("not a file name", sqlstate="22023", hint="No slash.")
    with pytest.raises(Refusal) as refused:
        async with output(ScriptedConnection(put_blob=[wrong])).blob("text/plain", "a/b") as blob:
            await blob.write(b"x")
    assert refused.value.payload() == {
        "status": 500,
        "code": "BLOB",
        "message": "not a file name: No slash.",
    }


async def test_a_blob_that_its_writer_gives_up_is_sent_no_further() -> None:
    connection = ScriptedConnection()
    with suppress(ZeroDivisionError):
        async with output(connection).blob("text/plain") as blob:
            await blob.write(b"x")
            raise ZeroDivisionError
    assert connection.calls == []
    with pytest.raises(RuntimeError, match="not written"):
        _ = blob.ref


async def test_a_blob_has_a_name_only_when_it_is_written() -> None:
    connection = ScriptedConnection(put_blob=[1])
    async with output(connection).blob("text/plain") as blob:
        await blob.write(b"x" * PIECE_BYTES)
        with pytest.raises(RuntimeError, match="not written"):
            _ = blob.ref
    assert blob.ref["blobRef"]["size"] == PIECE_BYTES
    with pytest.raises(RuntimeError, match="finished, or broken"):
        await blob.write(b"x" * PIECE_BYTES)


async def test_an_attempt_has_an_origin_once_it_has_written_a_blob() -> None:
    work = output(ScriptedConnection(put_blob=[Unavailable("down"), 1]))
    assert work.origin is None
    with pytest.raises(Unavailable):
        async with work.blob("text/plain") as blob:
            await blob.write(b"x" * PIECE_BYTES)
    assert work.origin is None, "nothing can name it"
    async with work.blob("text/plain") as blob:
        await blob.write(b"x")
    assert work.origin is not None
    work.close()


class Line(ScriptedConnection):
    """Answers progress as told, and says when it has."""

    def __init__(self, *answers: Any) -> None:
        super().__init__(report_progress=list(answers))
        self.answered = asyncio.Semaphore(0)

    async def call(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        try:
            return await super().call(function, *args, **kwargs)
        finally:
            self.answered.release()

    async def until_answered(self) -> None:
        async with asyncio.timeout(PATIENCE):
            await self.answered.acquire()


async def test_of_progress_told_at_once_the_newest_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PROGRESS_SECONDS", 0.001)
    line = Line("held", "held")
    work = output(line)
    for done in range(100):
        work.progress(done, 100, "reading")
    await line.until_answered()
    for done in range(3):
        work.progress(done)
    await line.until_answered()
    work.close()
    assert line.called("report_progress") == [(7, 2, 99, 100, "reading"), (7, 2, 2, None, None)]


async def test_an_export_tells_how_many_of_its_rows_are_written(
    client_db: ClientDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[int, int | None]] = []
    work = output(ScriptedConnection(put_blob=[1, 2]))
    monkeypatch.setattr(work, "progress", lambda done, total: told.append((done, total)))
    query = "select n from generate_series(1, 2500) as n"
    async with await psycopg.AsyncConnection.connect(client_db.reader) as client:
        await work.copy_csv(client, query, None, "numbers.csv", total=2500)
        assert told == [(0, 2500), (1000, 2500), (2000, 2500), (2500, 2500)]
        told.clear()
        await work.copy_csv(client, query, None, "numbers.csv")
        assert told == [], "nobody has said how many there are"


async def test_progress_is_sent_four_times_a_second_at_most(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert module.PROGRESS_SECONDS == 0.25
    monkeypatch.setattr(module, "PROGRESS_SECONDS", 3600)
    line = Line("held")
    work = output(line)
    work.progress(1)
    await line.until_answered()
    work.progress(2)
    await settled()
    assert len(line.calls) == 1, "the next one is not due"
    work.close()
    await settled()
    work.progress(3)
    await settled()
    assert len(line.calls) == 1, "nothing is told of a handler that has ended"


@pytest.mark.parametrize("trouble", [Unavailable("nobody there"), Conflict("lost")])
async def test_progress_that_cannot_be_told_troubles_nobody(
    trouble: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PROGRESS_SECONDS", 0.001)
    line = Line(trouble, "held")
    work = output(line)
    work.progress(1)
    await line.until_answered()
    work.progress(2)
    await line.until_answered()
    work.close()
    assert line.called("report_progress")[-1] == (7, 2, 2, None, None)


async def test_progress_is_whole_numbers_and_some_words() -> None:
    line = Line("held")
    work = output(line)
    for wrong in ((-1, None), (1, -1), (1.5, None), (2**63, None)):
        with pytest.raises(ValueError, match="whole numbers from 0 on"):
            work.progress(*wrong)
    work.progress(1, 2, "x" * 2000)
    await line.until_answered()
    work.close()
    assert line.called("report_progress") == [(7, 2, 1, 2, "x" * 1000)]


async def settled() -> None:
    """Let what has to happen happen."""
    for _ in range(10):
        await asyncio.sleep(0)
