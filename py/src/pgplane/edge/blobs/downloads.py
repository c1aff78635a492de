"""Downloads: the bytes of blobs, piece by piece, from the database to a client."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Concatenate, ParamSpec, TypeVar
from urllib.parse import quote

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from pgplane import ledger, logs
from pgplane.edge.access.access import Visitor
from pgplane.edge.admission import Full
from pgplane.edge.blobs.ranges import Wanted
from pgplane.edge.database import QueueDatabase
from pgplane.edge.problems import Problem
from pgplane.edge.replies.streams import send_within, until_gone
from pgplane.errors import Gone, LedgerError, NotFound
from pgplane.ledger.records import BlobInfo
from pgplane.session import Connection

P = ParamSpec("P")
T = TypeVar("T")

log = logs.get("edge")

PIECE = 1024**2
"""Bytes that are read at a time: what one download holds in memory."""

SLICE = 64 * 1024
"""Bytes that a client must take within `SEND_SECONDS`, else it is let go."""

SEND_SECONDS = 30.0
TURN_SECONDS = 5.0
"""How long a read waits for its turn."""

_RUNS = re.compile(
    r"(?:ecma|java|j|live)script|css|wasm|xsl|importmap|speculationrules", re.IGNORECASE
)
"""In a content type: what a page would run, style itself with, or let decide what it loads."""

_NOT_PLAIN = re.compile(r"[^A-Za-z0-9 !#$&()+,.;=@^_`{}~\[\]-]")


@dataclass(frozen=True, slots=True)
class Blob:
    """A blob that a visitor may read, and the key by which."""

    queue: str
    job_id: int
    number: int
    scope_key: str
    info: BlobInfo

    @property
    def etag(self) -> str:
        """Its strong validator, as headers have it."""
        return f'"{self.info.etag}"'

    def headers(self) -> dict[str, str]:
        """What is said of it, whether all of its bytes follow, some or none.

        Whoever wrote it named its type: it is never shown as a page of this origin, nor run by one
        (`nosniff` takes no script or style by another type), nor is it part of another origin's.
        No cache keeps it, as none keeps any other answer, and no proxy on its disk: a disk is not
        to have for longer what the database has for a time, and an address with a ticket in it
        never comes again.
        """
        runs = _RUNS.search(self.info.content_type)
        return {
            "Content-Type": "application/octet-stream" if runs else self.info.content_type,
            "Content-Disposition": disposition(self.info.filename),
            "ETag": self.etag,
            "Accept-Ranges": "bytes",
            "Cache-Control": "private, no-store, no-transform",
            "X-Accel-Buffering": "no",
            "X-Content-Type-Options": "nosniff",
            "Content-Security-Policy": "sandbox; default-src 'none'",
            "Cross-Origin-Resource-Policy": "same-origin",
        }


class Blobs:
    """Reads blobs, with at most half of the pool's connections: questions need the others.

    A connection is held while a piece is read, and never while a client takes it.
    """

    def __init__(self, database: QueueDatabase, pool_size: int) -> None:
        self._database = database
        self._turns = asyncio.Semaphore(max(1, pool_size // 2))

    async def find(self, visitor: Visitor, number: int) -> Blob:
        """The blob of the visitor's job; raises Problem 404, 410 or 503, and LedgerError."""
        for scope_key in visitor.scope_keys:
            try:
                info = await self._in_turn(
                    ledger.blob_info, visitor.queue, visitor.job_id, number, scope_key
                )
            except NotFound:
                continue
            except Gone:
                detail = "the blob has expired; ask the question again"
                raise Problem(410, "GONE", detail) from None
            return Blob(visitor.queue, visitor.job_id, number, scope_key, info)
        raise no_such_blob()

    async def read(self, blob: Blob, start: int, length: int) -> bytes:
        """These bytes; raises Problem 503 where too many want to read, and LedgerError."""
        at = blob.queue, blob.job_id, blob.number, blob.scope_key
        return await self._in_turn(ledger.read_blob, *at, start, length)

    async def _in_turn(
        self,
        function: Callable[Concatenate[Connection, P], Awaitable[T]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        try:
            async with asyncio.timeout(TURN_SECONDS):
                await self._turns.acquire()
        except TimeoutError:
            raise Full("downloads", own=False) from None
        try:
            return await self._database.call(function, *args, **kwargs)
        finally:
            self._turns.release()


class Download(Response):
    """A response of some or all bytes of a blob; `on_close` runs once, however it ends.

    What cannot be read, or is not taken, ends the response before its announced length: the client
    sees that, and asks for the rest by `Range`.
    """

    def __init__(
        self, blobs: Blobs, blob: Blob, wanted: Wanted, first: bytes, on_close: Callable[[], None]
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
        gone = asyncio.create_task(until_gone(receive), name="download-watch")
        try:
            start = {"status": self.status_code, "headers": self.raw_headers}
            await send_within(send, {"type": "http.response.start", **start}, SEND_SECONDS)
            await self._send(send, gone)
        except TimeoutError:
            log.info("download.frozen", path=scope["path"], seconds=SEND_SECONDS)
        except (LedgerError, Problem) as error:
            log.warning("download.cut", path=scope["path"], error=str(error))
        finally:
            gone.cancel()
            self._on_close()

    async def _send(self, send: Send, gone: "asyncio.Task[None]") -> None:
        at, end, piece = self._wanted.start, self._wanted.end, self._first
        while at < end:
            for offset in range(0, len(piece), SLICE):
                if gone.done():
                    return
                message = {"body": piece[offset : offset + SLICE], "more_body": True}
                await send_within(send, {"type": "http.response.body", **message}, SEND_SECONDS)
            at += len(piece)
            if at < end:
                piece = await self._blobs.read(self._blob, at, min(PIECE, end - at))
                if not piece:
                    raise Gone("the blob has fewer bytes than it had")
        await send_within(send, {"type": "http.response.body", "body": b""}, SEND_SECONDS)


async def first_piece(blobs: Blobs, blob: Blob, wanted: Wanted) -> bytes:
    """The bytes that a download begins with, so that who cannot be served is told by a status."""
    length = min(PIECE, wanted.end - wanted.start)
    return await blobs.read(blob, wanted.start, length) if length else b""


def part_headers(blob: Blob, wanted: Wanted) -> dict[str, str]:
    """The headers of a 200 or a 206."""
    headers = blob.headers() | {"Content-Length": str(wanted.end - wanted.start)}
    if wanted.status == 206:
        headers["Content-Range"] = f"bytes {wanted.start}-{wanted.end - 1}/{blob.info.size}"
    return headers


def disposition(filename: str | None) -> str:
    """To be saved, under this name: as RFC 6266 has it, and for who reads only plain letters."""
    if filename is None:
        return "attachment"
    plain = _NOT_PLAIN.sub("_", filename)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(filename, safe='')}"


def no_such_blob() -> Problem:
    """The one answer for a blob that never was, and for one that is somebody else's."""
    return Problem(404, "NOT_FOUND", "there is no such blob, or it is not yours to see")
