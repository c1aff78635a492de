"""Server-sent events: their framing, and how a stream begins, beats and ends."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Message

from pgplane.edge.replies.streams import EventStream, Streams, frame, retry


def events(text: bytes) -> list[httpx2.ServerSentEvent]:
    """What a client makes of it, by another hand's parser."""
    request = httpx2.Request("GET", "http://edge")
    headers = {"Content-Type": "text/event-stream"}
    response = httpx2.Response(200, headers=headers, content=text, request=request)
    return list(httpx2.EventSource(response))


class Client:
    """The other end of one ASGI response."""

    def __init__(self, stream: EventStream, method: str = "GET") -> None:
        self.sent: list[Message] = []
        self.frozen = asyncio.Event()
        self.frozen.set()
        self.left = asyncio.Event()
        self.more = asyncio.Event()
        scope = {"type": "http", "method": method, "path": "/s"}
        self.task = asyncio.create_task(stream(scope, self._receive, self._send))

    async def _receive(self) -> Message:
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        await self.frozen.wait()
        self.sent.append(message)
        self.more.set()

    async def until(self, count: int) -> list[Message]:
        """Everything sent, once it is so much."""
        while len(self.sent) < count:
            self.more.clear()
            await self.more.wait()
        return self.sent

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent)


@pytest.fixture
async def streams() -> AsyncIterator[Streams]:
    opened = Streams(heartbeat=0.02, send_timeout=0.05, slots=2)
    beat = asyncio.create_task(opened.beat())
    yield opened
    beat.cancel()


@pytest.fixture
def quiet() -> Streams:
    """Streams that do not beat."""
    return Streams()


def test_an_event_has_a_name_an_id_and_data() -> None:
    assert frame("done", b'{"a":1}', "7.end") == b'event: done\nid: 7.end\ndata: {"a":1}\n\n'


@pytest.mark.parametrize(
    "text",
    ["a\nb", "a\rb", "a\r\nb", "\n", "\r\n\r\n", "a\n\ndata: forged", "x\revent: forged\rdata: y"],
)
def test_line_ends_in_data_cannot_forge_a_field(text: str) -> None:
    (event,) = events(frame("error", text.encode(), "7.end"))
    assert (event.event, event.id) == ("error", "7.end")
    assert event.data == text.replace("\r\n", "\n").replace("\r", "\n")


def test_nul_in_data_is_replaced() -> None:
    (event,) = events(frame("error", b"a\0b"))
    assert event.data == "a\N{REPLACEMENT CHARACTER}b"


@pytest.mark.parametrize("bad", ["a\nb", "a\rb", "a\0b"])
def test_a_name_or_id_is_one_line(bad: str) -> None:
    with pytest.raises(ValueError, match="one line"):
        frame(bad, b"{}")
    with pytest.raises(ValueError, match="one line"):
        frame("done", b"{}", bad)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_message_arrives_as_one_event(message: str) -> None:
    data = json.dumps({"message": message}, ensure_ascii=False, indent=1).replace("\n", "\r\n")
    (event,) = events(frame("error", data.encode()))
    assert json.loads(event.data) == {"message": message}


def test_the_reconnection_delay_varies() -> None:
    delays = {retry() for _ in range(50)}
    assert len(delays) > 10
    assert all(1000 <= int(delay.split()[1]) <= 4000 for delay in delays)


async def test_headers_keep_proxies_from_holding_or_changing_it(quiet: Streams) -> None:
    stream = quiet.open(lambda: None)
    assert stream.headers["Content-Type"].startswith("text/event-stream")
    assert stream.headers["Cache-Control"] == "no-store, no-transform"
    assert stream.headers["X-Accel-Buffering"] == "no"
    assert "Content-Length" not in stream.headers


async def test_what_is_pushed_goes_out_at_once_and_in_order(quiet: Streams) -> None:
    stream = quiet.open(lambda: None)
    stream.push(b"one ")
    stream.push(b"two ")
    client = Client(stream)
    await client.until(2)
    assert client.body == b"one two "
    stream.push(b"three ")
    await client.until(3)
    stream.finish(b"end")
    await client.task
    assert client.body == b"one two three end"
    assert [m["more_body"] for m in client.sent[1:]] == [True, True, False]


async def test_nothing_follows_the_end(quiet: Streams) -> None:
    stream = quiet.open(lambda: None)
    stream.finish(b"end")
    stream.finish(b"again")
    stream.push(b"more")
    client = Client(stream)
    await client.task
    assert client.body == b"end"


async def test_an_idle_stream_beats(streams: Streams) -> None:
    stream = streams.open(lambda: None)
    client = Client(stream)
    await client.until(4)
    assert client.body.startswith(b":\n\n:\n\n")
    assert events(client.body) == []
    stream.finish()
    await client.task


async def test_the_end_of_a_stream_frees_it_once(quiet: Streams) -> None:
    closed: list[int] = []
    stream = quiet.open(lambda: closed.append(1))
    assert len(quiet) == 1
    stream.finish()
    await Client(stream).task
    stream.close()
    assert closed == [1]
    assert len(quiet) == 0


async def test_a_client_that_leaves_frees_its_stream(quiet: Streams) -> None:
    closed = asyncio.Event()
    client = Client(quiet.open(closed.set))
    await client.until(1)
    client.left.set()
    await closed.wait()
    await client.task
    assert len(quiet) == 0
    assert all(message.get("more_body", True) for message in client.sent)


async def test_a_frozen_client_is_given_up(streams: Streams) -> None:
    closed = asyncio.Event()
    client = Client(streams.open(closed.set))
    await client.until(1)
    client.frozen.clear()
    await closed.wait()
    await client.task
    assert len(streams) == 0


async def test_beats_do_not_pile_up_for_a_slow_client(quiet: Streams) -> None:
    stream = quiet.open(lambda: None)
    client = Client(stream)
    await client.until(1)
    for _ in range(100):
        stream.beat()
    await client.until(2)
    assert client.body == b":\n\n"
    stream.finish()
    await client.task


async def test_a_client_that_falls_too_far_behind_is_cut_off() -> None:
    streams = Streams(max_pending=100)
    closed: list[int] = []
    stream = streams.open(lambda: closed.append(1))
    client = Client(stream)
    await client.until(1)
    client.frozen.clear()
    stream.push(b"on its way ")
    await asyncio.sleep(0)
    for _ in range(3):
        stream.push(b"x" * 50)
    stream.push(b"one too many")
    stream.finish(b"end")
    client.frozen.set()
    await client.task
    assert client.body.startswith(b"on its way retry: ")
    assert client.body.endswith(b"\n\n")
    assert len(client.body) < 40
    assert client.sent[-1]["more_body"] is False
    assert (closed, len(streams)) == ([1], 0)


async def test_what_waits_may_be_as_much_and_one_event_of_any_size() -> None:
    stream = Streams(max_pending=100).open(lambda: None)
    stream.push(b"x" * 100)
    stream.finish(b"y" * 10_000)
    client = Client(stream)
    await client.task
    assert client.body == b"x" * 100 + b"y" * 10_000


async def test_what_was_taken_waits_no_more() -> None:
    stream = Streams(max_pending=100).open(lambda: None)
    client = Client(stream)
    for count in range(1, 6):
        stream.push(b"x" * 90)
        await client.until(1 + count)
    stream.finish(b"end")
    await client.task
    assert client.body == b"x" * 450 + b"end"


async def test_head_ends_without_a_body(quiet: Streams) -> None:
    closed: list[int] = []
    client = Client(quiet.open(lambda: closed.append(1)), "HEAD")
    await client.task
    assert client.body == b""
    assert client.sent[-1]["more_body"] is False
    assert closed == [1]


async def test_a_drain_ends_every_stream_within_its_window(quiet: Streams) -> None:
    clients = [Client(quiet.open(lambda: None)) for _ in range(20)]
    assert not quiet.draining
    quiet.drain(0.05)
    await asyncio.gather(*(client.task for client in clients))
    assert quiet.draining
    assert len(quiet) == 0
    for client in clients:
        assert client.body.startswith(b"retry: ")
        assert client.sent[-1]["more_body"] is False


async def test_a_stream_that_opens_during_a_drain_ends_too(quiet: Streams) -> None:
    quiet.drain(0.05)
    client = Client(quiet.open(lambda: None))
    await client.task
    assert client.body.startswith(b"retry: ")


async def test_a_drain_is_spread(quiet: Streams) -> None:
    moments: list[float] = []
    loop = asyncio.get_running_loop()
    clients = [Client(quiet.open(lambda: moments.append(loop.time()))) for _ in range(40)]
    quiet.drain(0.2)
    await asyncio.gather(*(client.task for client in clients))
    assert max(moments) - min(moments) > 0.05


def test_streams_share_the_heartbeat_evenly(quiet: Streams) -> None:
    async def fill() -> list[int]:
        opened: list[Any] = [quiet.open(lambda: None) for _ in range(30)]
        assert len(opened) == len(quiet)
        return [len(slot) for slot in quiet._slots]

    assert asyncio.run(fill()) == [2] * 15
