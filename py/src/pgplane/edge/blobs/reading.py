"""Reading: blobs that a visitor may see, and their bytes, with a part of the pool."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Concatenate, ParamSpec, TypeVar
from urllib.parse import quote

from pgplane import ledger
from pgplane.edge.access.access import Visitor
from pgplane.edge.admission import Full
from pgplane.edge.database import QueueDatabase
from pgplane.edge.problems import Problem
from pgplane.errors import Gone, NotFound
from pgplane.ledger.records import BlobInfo
from pgplane.session import Connection

P = ParamSpec("P")
T = TypeVar("T")

TURN_SECONDS = 5.0
"""How long a read waits for its turn."""

_RUNS = re.compile(
    r"(?:ecma|java|j|live)script|css|wasm|xsl|importmap|speculationrules", re.IGNORECASE
)
"""In a content type: what a page would run, style itself with, or let decide what it loads."""

_NOT_PLAIN = re.compile(r"[^A-Za-z0-9 !#$&()+,.;=@^_`{}~\[\]-]")


@dataclass(frozen=True, slots=True)
class VisibleBlob:
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

    async def find(self, visitor: Visitor, number: int) -> VisibleBlob:
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
            return VisibleBlob(visitor.queue, visitor.job_id, number, scope_key, info)
        raise no_such_blob()

    async def read(self, blob: VisibleBlob, start: int, length: int) -> bytes:
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
            raise Full("TOO_MANY_DOWNLOADS", own=False) from None
        try:
            return await self._database.call(function, *args, **kwargs)
        finally:
            self._turns.release()


def disposition(filename: str | None) -> str:
    """To be saved, under this name: as RFC 6266 has it, and for who reads only plain letters."""
    if filename is None:
        return "attachment"
    plain = _NOT_PLAIN.sub("_", filename)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(filename, safe='')}"


def no_such_blob() -> Problem:
    """The one answer for a blob that never was, and for one that is somebody else's."""
    return Problem(404, "NOT_FOUND", "there is no such blob, or it is not yours to see")
