"""Tellers: what one job tells, when it stops, and whose stream that ends."""

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from pgplane.edge.database import QueueDatabase
from pgplane.edge.replies.pump import ReplyPump
from pgplane.edge.replies.streams import Streams
from pgplane.edge.replies.tellers import Teller, reply
from pgplane.edge.replies.waiters import Waiter
from pgplane.ledger.records import Job

QUEUE, KEY = "surface-flights", "a" * 64
PENDING = Job(7, KEY, "pending", None, None, None, None, 3, datetime.now(UTC), None, None)
RUNNING = replace(PENDING, status="in_progress", position=None)
DONE = replace(PENDING, status="done", position=None, result=b"1")


class Owner:
    """Whoever owns the stream: keeps what is said, and what was said to be the last."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.ends: list[tuple[str, Any]] = []
        self.ended = asyncio.Event()
        self.sent_away = asyncio.Event()

    def send_away(self) -> None:
        self.sent_away.set()

    def say(self, frame: bytes) -> None:
        self.said.append(name_and_data(frame)[0])

    def end(self, frame: bytes) -> None:
        self.ends.append(name_and_data(frame))
        self.ended.set()


def name_and_data(frame: bytes) -> tuple[str, Any]:
    event, _, data = frame.decode().rstrip("\n").split("\n")
    return event.removeprefix("event: "), json.loads(data.removeprefix("data: "))


@pytest.fixture
def pump() -> ReplyPump:
    return ReplyPump(QueueDatabase(None, 1), 3600)


@pytest.fixture
def owner() -> Owner:
    return Owner()


def waiter(pump: ReplyPump, job: Job) -> Waiter:
    """A waiter that the pump knows, with this row at hand."""
    attached = Waiter(QUEUE, job.job_id, KEY)
    pump._waiting[job.job_id].add(attached)
    attached.offer(job)
    return attached


async def test_a_job_is_told_from_its_place_in_the_queue_to_its_end(
    pump: ReplyPump, owner: Owner
) -> None:
    one = waiter(pump, PENDING)
    teller = Teller(pump, one, 60)
    teller.begin(owner.say, owner.end, owner.send_away)
    assert owner.said == ["queued"]
    half = replace(RUNNING, progress=b'{"done": 1}')
    for row in (PENDING, replace(PENDING, position=2), RUNNING, RUNNING, half, half):
        one.offer(row)
    assert owner.said == ["queued", "queued", "running", "progress"]
    one.offer(DONE)
    assert [name for name, _ in owner.ends] == ["done"]
    teller.close()
    assert len(pump) == 0


async def test_one_that_is_told_its_end_at_once_says_nothing_before(
    pump: ReplyPump, owner: Owner
) -> None:
    teller = Teller(pump, waiter(pump, DONE), 60)
    teller.begin(owner.say, owner.end, owner.send_away)
    assert (owner.said, [name for name, _ in owner.ends]) == ([], ["done"])
    teller.close()


async def test_a_deadline_ends_one_teller_and_no_other(pump: ReplyPump) -> None:
    brief, patient = Owner(), Owner()
    one, other = waiter(pump, PENDING), waiter(pump, replace(PENDING, job_id=8))
    Teller(pump, one, 0).begin(brief.say, brief.end, brief.send_away)
    longer = Teller(pump, other, 60)
    longer.begin(patient.say, patient.end, patient.send_away)
    await brief.ended.wait()
    ((name, data),) = brief.ends
    assert (name, data["code"], data["jobId"]) == ("error", "TIMEOUT", "7")
    assert (patient.ends, len(pump)) == ([], 1)
    other.offer(replace(DONE, job_id=8))
    assert [name for name, _ in patient.ends] == ["done"]
    longer.close()


async def test_a_closed_teller_lets_go_of_its_deadline_too(pump: ReplyPump, owner: Owner) -> None:
    teller = Teller(pump, waiter(pump, PENDING), 0)
    teller.begin(owner.say, owner.end, owner.send_away)
    teller.close()
    teller.close()
    passed = asyncio.Event()
    asyncio.get_running_loop().call_later(0, passed.set)
    await passed.wait()
    assert (owner.ends, len(pump)) == ([], 0)


async def test_who_was_not_told_an_end_in_time_is_to_ask_again(
    pump: ReplyPump, owner: Owner
) -> None:
    """Not told TIMEOUT, which says that the job runs on."""
    one = waiter(pump, RUNNING)
    teller = Teller(pump, one, 0.01)
    teller.begin(owner.say, owner.end, owner.send_away, lambda: False)
    one.offer(DONE)
    assert (one.job, len(pump), teller.unread) == (None, 0, True)
    await owner.sent_away.wait()
    assert owner.ends == []
    teller.close()


async def test_an_answer_that_was_left_out_is_read_then_told(pump: ReplyPump) -> None:
    streams = Streams()
    one = Waiter(QUEUE, 7, KEY)
    stream = reply(pump, streams, one, 60)
    assert (list(pump._left), len(pump)) == ([7], 1)
    one.offer(DONE)
    assert b"event: done" in b"".join(stream._pending)
    stream.close()
    assert (len(pump), len(streams)) == (0, 0)


async def test_what_was_told_is_held_no_longer(pump: ReplyPump) -> None:
    one = waiter(pump, DONE)
    stream = reply(pump, Streams(), one, 60)
    assert (one.job, len(pump), pump._left) == (None, 0, {})
    stream.close()


async def test_a_job_that_cannot_be_told_leaves_no_stream_open(
    pump: ReplyPump, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: object) -> None:
        raise ValueError("untellable")

    monkeypatch.setattr(Teller, "_tell", fail)
    streams = Streams()
    with pytest.raises(ValueError, match="untellable"):
        reply(pump, streams, waiter(pump, PENDING), 60)
    assert (len(pump), len(streams)) == (0, 0)


async def test_a_reply_ends_with_its_job(pump: ReplyPump) -> None:
    streams = Streams()
    one = waiter(pump, PENDING)
    stream = reply(pump, streams, one, 60)
    one.offer(DONE)
    stream.push(b"no more")
    said = b"".join(stream._pending)
    assert said.startswith(b"retry: ")
    assert said.count(b"event: ") == 2
    assert said.endswith(b"\n\n")
    stream.close()
    assert (len(pump), len(streams)) == (0, 0)
