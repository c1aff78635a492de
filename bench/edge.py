"""An edge in a process of its own, whose streams are of one class or another.

`python -m bench.edge CLASS`, with the settings of an edge; its log names the port.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable

from pgplane import logs
from pgplane.edge import app, server
from pgplane.edge.replies.streams import EventStream, Streams
from pgplane.settings import Settings

CLASSES = ("own", "sse-starlette")


def sse_starlette() -> type[Streams]:
    """Streams of sse-starlette's response, which beats, drains and watches for itself."""
    from sse_starlette import EventSourceResponse

    class Queued(EventSourceResponse):  # type: ignore[misc]
        """That response with what the edge asks of a stream: an iterator fed by a queue."""

        def __init__(self, on_close: Callable[[], None]) -> None:
            self._chunks: asyncio.Queue[bytes | None] = asyncio.Queue()
            self._on_close = on_close
            super().__init__(
                self._told(), headers={"Cache-Control": "no-store, no-transform"}, send_timeout=30
            )

        def push(self, chunk: bytes) -> None:
            self._chunks.put_nowait(chunk)

        def finish(self, chunk: bytes = b"") -> None:
            self.push(chunk)
            self._chunks.put_nowait(None)

        def send_away(self) -> None:
            self.finish()

        async def _told(self) -> AsyncIterator[bytes]:
            try:
                while (chunk := await self._chunks.get()) is not None:
                    yield chunk
            finally:
                self.close()

        def close(self) -> None:
            on_close, self._on_close = self._on_close, lambda: None
            on_close()

    class QueuedStreams(Streams):
        """No timer for all: each stream has a task for it."""

        def open(self, on_close: Callable[[], None]) -> EventStream:
            stream: object = Queued(on_close)
            return stream  # type: ignore[return-value]

        async def beat(self) -> None:
            await asyncio.Event().wait()

    return QueuedStreams


def main(name: str) -> None:
    """Serve until SIGTERM."""
    if name == "sse-starlette":
        app.Streams = sse_starlette()  # type: ignore[attr-defined]
    elif name != "own":
        raise SystemExit(f"no such class: {name}; there are {', '.join(CLASSES)}")
    settings = Settings()
    logs.configure(settings.log_level)
    server.run(settings, port=0)


if __name__ == "__main__":
    main(sys.argv[1])
