"""Streams: server-sent events, as an ASGI response and as the set of all that are open."""

import asyncio
import random
import re
from collections.abc import Callable

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from pgplane import logs
from pgplane.edge.sending import send_start, send_within, watched

log = logs.get("edge")

HEADERS = {
    "Cache-Control": "no-store, no-transform",
    "X-Accel-Buffering": "no",
}
MAX_PENDING = 4 * 1024**2
"""Bytes that may wait for a slow client, and one event above: several results of the largest size.

It is for streams of many jobs: what one job has to tell before its end is a few hundred bytes.
"""

_random = random.SystemRandom()
_COMMENT = b":\n\n"
_LINE_END = re.compile(rb"\r\n|\r|\n")
_UNSAFE = re.compile(r"[\r\n\0]")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}".encode()


def frame(event: str, data: bytes, event_id: str | None = None) -> bytes:
    """One event. `data` is any UTF-8 text: each of its lines gets a `data:` of its own.

    Raises ValueError when `event` or `event_id` holds CR, LF or NUL.
    """
    if _UNSAFE.search(event) or _UNSAFE.search(event_id or ""):
        raise ValueError("an event's name and id are one line each")
    lines = [b"event: " + event.encode()]
    if event_id is not None:
        lines.append(b"id: " + event_id.encode())
    safe = data.replace(b"\0", _REPLACEMENT)
    lines += [b"data: " + line for line in _LINE_END.split(safe)]
    return b"\n".join(lines) + b"\n\n"


def retry(low_ms: int = 1000, high_ms: int = 4000) -> bytes:
    """A line with the reconnection delay, drawn anew so that clients do not come back in step.

    A frame may follow it at once, or an empty line.
    """
    return b"retry: %d\n" % _random.randint(low_ms, high_ms)


class EventStream(Response):
    """A response that sends what is pushed to it, until it is finished or the client is gone.

    A client that falls behind by more than `max_pending` bytes is cut off: it comes back and is
    told how things stand, rather than how they came to be so.

    `on_close` runs exactly once, however the stream ends: also when it never began. `on_taken`
    runs whenever the client has taken what was there.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        streams: "Streams",
        on_close: Callable[[], None],
        send_timeout: float,
        max_pending: int,
    ) -> None:
        self.status_code = 200
        self.background = None
        self.init_headers(HEADERS)
        self.on_taken: Callable[[], None] | None = None
        self._streams = streams
        self._on_close = on_close
        self._send_timeout = send_timeout
        self._max_pending = max_pending
        self._pending: list[bytes] = []
        self._size = 0
        self._finished = False
        self._gone = False
        self._closed = False
        self._wake = asyncio.Event()

    @property
    def waiting(self) -> int:
        """Bytes that wait for the client to take those before them."""
        return self._size

    def push(self, chunk: bytes) -> None:
        """Send these bytes, whole frames, as soon as the client takes them."""
        if self._finished:
            return
        if self._size > self._max_pending:
            log.info("stream.cut", bytes=self._size)
            self._pending.clear()
            chunk = retry() + b"\n"
            self._finished = True
        self._pending.append(chunk)
        self._size += len(chunk)
        self._wake.set()

    def beat(self) -> None:
        """Send a comment, unless something else is already on its way."""
        if not self._pending:
            self.push(_COMMENT)

    def finish(self, chunk: bytes = b"") -> None:
        """Send these last bytes and end."""
        self.push(chunk)
        self._finished = True

    def send_away(self) -> None:
        """End, and tell the client to come back after a moment of its own."""
        self.finish(retry() + b"\n")

    def close(self) -> None:
        """Let go of everything the stream holds; a second call does nothing."""
        if not self._closed:
            self._closed = self._finished = True
            self._streams.discard(self)
            self._on_close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            with watched(receive, self._leave):
                await send_start(send, self, self._send_timeout)
                if scope["method"] == "HEAD":
                    self.finish()
                await self._pump(send)
        except TimeoutError:
            log.info("stream.frozen", path=scope["path"], seconds=self._send_timeout)
        finally:
            self.close()

    async def _pump(self, send: Send) -> None:
        more = True
        while more and not self._gone:
            await self._wake.wait()
            self._wake.clear()
            if self._gone:
                return
            body, more = b"".join(self._pending), not self._finished
            self._pending.clear()
            self._size = 0
            message = {"type": "http.response.body", "body": body, "more_body": more}
            await send_within(send, message, self._send_timeout)
            if more and self.on_taken is not None:
                self.on_taken()

    def _leave(self) -> None:
        self._gone = True
        self._wake.set()


class Streams:
    """The open streams of this process: one timer beats for all of them, one drain ends them."""

    def __init__(
        self,
        heartbeat: float = 15.0,
        send_timeout: float = 30.0,
        slots: int = 15,
        max_pending: int = MAX_PENDING,
    ) -> None:
        """`heartbeat` and `send_timeout` in seconds; beats are spread over `slots` a heartbeat."""
        self._tick = heartbeat / slots
        self._send_timeout = send_timeout
        self._max_pending = max_pending
        self._slots: list[set[EventStream]] = [set() for _ in range(slots)]
        self._draining = False

    @property
    def draining(self) -> bool:
        """Whether this process is on its way out and opens no more streams."""
        return self._draining

    def __len__(self) -> int:
        return sum(map(len, self._slots))

    def open(self, on_close: Callable[[], None]) -> EventStream:
        """A new stream that beats with the others; it must be returned as a response."""
        stream = EventStream(self, on_close, self._send_timeout, self._max_pending)
        min(self._slots, key=len).add(stream)
        if self._draining:
            asyncio.get_running_loop().call_soon(stream.send_away)
        return stream

    def discard(self, stream: EventStream) -> None:
        """Forget a stream."""
        for slot in self._slots:
            slot.discard(stream)

    async def beat(self) -> None:
        """Beat for ever; each stream has its turn once a heartbeat."""
        while True:
            for slot in self._slots:
                await asyncio.sleep(self._tick)
                for stream in slot:
                    stream.beat()

    def drain(self, window: float) -> None:
        """End every open stream at a moment of its own within `window` seconds.

        The client is told to reconnect, after a moment of its own too.
        """
        self._draining = True
        loop = asyncio.get_running_loop()
        for slot in self._slots:
            for stream in slot:
                loop.call_later(_random.uniform(0, window), stream.send_away)
