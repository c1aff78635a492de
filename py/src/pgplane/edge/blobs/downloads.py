"""Downloads: some or all bytes of a blob, piece by piece, to a client."""

import asyncio
from collections.abc import Callable

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from pgplane import logs
from pgplane.edge.blobs.ranges import Wanted
from pgplane.edge.blobs.reading import Blobs, VisibleBlob
from pgplane.edge.problems import Problem
from pgplane.edge.sending import send_start, send_within, watched
from pgplane.errors import Gone, LedgerError

log = logs.get("edge")

PIECE = 1024**2
"""Bytes that are read at a time: what one download holds in memory."""

SLICE = 64 * 1024
"""Bytes that a client must take within `SEND_SECONDS`, else it is let go."""

SEND_SECONDS = 30.0


class Download(Response):
    """A response of some or all bytes of a blob; `on_close` runs once, however it ends.

    What cannot be read, or is not taken, ends the response before its announced length: the client
    sees that, and asks for the rest by `Range`.
    """

    def __init__(
        self,
        blobs: Blobs,
        blob: VisibleBlob,
        wanted: Wanted,
        first: bytes,
        on_close: Callable[[], None],
    ) -> None:
        """`first`: the piece at the beginning of what is wanted, as `first_piece` reads it."""
        self.status_code = wanted.status
        self.background = None
        self.init_headers(part_headers(blob, wanted))
        self._blobs = blobs
        self._blob = blob
        self._wanted = wanted
        self._first = first
        self._on_close = on_close

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        gone = asyncio.Event()
        try:
            with watched(receive, gone.set):
                await send_start(send, self, SEND_SECONDS)
                await self._send(send, gone)
        except TimeoutError:
            log.info("download.frozen", path=scope["path"], seconds=SEND_SECONDS)
        except (LedgerError, Problem) as error:
            log.warning("download.cut", path=scope["path"], error=str(error))
        finally:
            self._on_close()

    async def _send(self, send: Send, gone: asyncio.Event) -> None:
        at, end, piece = self._wanted.start, self._wanted.end, self._first
        while at < end:
            for offset in range(0, len(piece), SLICE):
                if gone.is_set():
                    return
                message = {"body": piece[offset : offset + SLICE], "more_body": True}
                await send_within(send, {"type": "http.response.body", **message}, SEND_SECONDS)
            at += len(piece)
            if at < end:
                piece = await self._blobs.read(self._blob, at, min(PIECE, end - at))
                if not piece:
                    raise Gone("the blob has fewer bytes than it had")
        await send_within(send, {"type": "http.response.body", "body": b""}, SEND_SECONDS)


async def first_piece(blobs: Blobs, blob: VisibleBlob, wanted: Wanted) -> bytes:
    """The bytes that a download begins with, so that who cannot be served is told by a status."""
    length = min(PIECE, wanted.end - wanted.start)
    return await blobs.read(blob, wanted.start, length) if length else b""


def part_headers(blob: VisibleBlob, wanted: Wanted) -> dict[str, str]:
    """The headers of a 200 or a 206."""
    headers = blob.headers() | {"Content-Length": str(wanted.end - wanted.start)}
    if wanted.status == 206:
        headers["Content-Range"] = f"bytes {wanted.start}-{wanted.end - 1}/{blob.info.size}"
    return headers
