"""Output: what a running handler sends to the queue database: how far it is, and blobs."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any

from psycopg import AsyncConnection

from pgplane import ledger, logs
from pgplane.client_database import write_csv
from pgplane.errors import Invalid, LedgerError, Refusal
from pgplane.operation import BlobRef
from pgplane.worker.answers import Origin
from pgplane.worker.connection import WarmConnection

PIECE_BYTES = 1024 * 1024
"""What the ledger takes at a time."""
PROGRESS_SECONDS = 0.25
MESSAGE_LENGTH = 1000
ROWS_TOLD = 1000
"""Rows of an export between two words of its progress."""
CSV = "text/csv; charset=utf-8; header=present"

log = logs.get("job")


class Output:
    """The `Work` of one attempt. `origin` is set once a blob is written."""

    def __init__(self, connection: WarmConnection, job_id: int, attempt: int) -> None:
        self._connection = connection
        self._fence = job_id, attempt
        self._progress = Progress(connection, job_id, attempt)
        self.origin: Origin | None = None

    def progress(self, done: int, total: int | None = None, message: str | None = None) -> None:
        """Tell who waits how far it is. Raises ValueError."""
        self._progress.tell(done, total, message)

    def blob(
        self, content_type: str, filename: str | None = None
    ) -> AbstractAsyncContextManager["Writer"]:
        """A new blob, to be written inside `async with`."""
        return self._writing(content_type, filename)

    async def copy_csv(
        self,
        client: AsyncConnection[Any],
        query: str,
        values: Sequence[object] | Mapping[str, object] | None,
        filename: str,
        total: int | None = None,
    ) -> BlobRef:
        """The rows of one SELECT as a CSV file; of `total` rows, it is told how many are there."""
        written = -1  # the first line is the header

        async def write(line: bytes) -> None:
            nonlocal written
            await blob.write(line)
            written += 1
            if total is not None and written % ROWS_TOLD == 0:
                self.progress(written, total)

        async with self.blob(CSV, filename) as blob:
            await write_csv(client, query, values, write)
        if total is not None:
            self.progress(written, total)
        return blob.ref

    def close(self) -> None:
        """Tell nothing more: the handler has ended."""
        self._progress.close()

    @asynccontextmanager
    async def _writing(self, content_type: str, filename: str | None) -> AsyncIterator["Writer"]:
        writer = Writer(self._connection, self._fence, content_type, filename)
        try:
            yield writer
            await writer.finish()
            if self.origin is None:
                self.origin = Origin(*self._fence)
        finally:
            writer.end()


class Writer:
    """A blob under way: pieces of 1 MiB, one after another, each sent once.

    A piece whose answer is not heard cannot be sent again, since it may be there: the blob is
    broken then, and so is the attempt, unless it does without.
    """

    def __init__(
        self,
        connection: WarmConnection,
        fence: tuple[int, int],
        content_type: str,
        filename: str | None,
    ) -> None:
        self._connection = connection
        self._fence = fence
        self._content_type = content_type
        self._filename = filename
        self._rest = bytearray()
        self._number: int | None = None
        self._size = 0
        self._is_open = True
        self._is_whole = False

    async def write(self, data: bytes) -> None:
        """Go on with these bytes. Raises LedgerError; Conflict: the job is another attempt's."""
        self._refuse_more()
        left = memoryview(data)
        while len(self._rest) + len(left) >= PIECE_BYTES:
            room = PIECE_BYTES - len(self._rest)
            piece = b"".join((self._rest, left[:room]))
            self._rest.clear()
            left = left[room:]
            await self._send(piece)
        self._rest += left

    async def finish(self) -> None:
        """Send what is left. Raises RuntimeError: a piece was not sent."""
        self._refuse_more()
        if self._rest or self._number is None:
            await self._send(bytes(self._rest))
        self._is_whole = True
        self.end()

    def end(self) -> None:
        """Take nothing more."""
        self._is_open = False
        self._rest.clear()

    @property
    def ref(self) -> BlobRef:
        """What the result names it by."""
        if not self._is_whole:
            raise RuntimeError("the blob is not written: its ref is there after `async with`")
        named: dict[str, object] = {
            "blob": self._number,
            "contentType": self._content_type,
            "filename": self._filename,
            "size": self._size,
        }
        return {"blobRef": named}

    def _refuse_more(self) -> None:
        if not self._is_open:
            raise RuntimeError("the blob takes nothing more: it is finished, or broken")

    async def _send(self, piece: bytes) -> None:
        self._is_open = False  # until the answer is heard
        if self._number is None:
            try:
                self._number = await self._connection.call(
                    ledger.put_blob, *self._fence, self._content_type, self._filename, piece
                )
            except Invalid as wrong:  # and so it would be at every further try
                log.error("blob.refused", job_id=self._fence[0], reason=wrong.message)
                raise Refusal(500, "BLOB", wrong.advice) from wrong
        else:
            await self._connection.call(ledger.append_blob, *self._fence, self._number, piece)
        self._size += len(piece)
        self._is_open = True


class Progress:
    """How far an attempt is: of what is told at once, the newest; it never fails or holds up."""

    def __init__(self, connection: WarmConnection, job_id: int, attempt: int) -> None:
        self._connection = connection
        self._fence = job_id, attempt
        self._newest: tuple[int, int | None, str | None] | None = None
        self._closed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def tell(self, done: int, total: int | None, message: str | None) -> None:
        """To be sent soon. Raises ValueError."""
        for number in (done, total):
            if number is not None and not _is_count(number):
                raise ValueError(f"progress is told in whole numbers from 0 on, not {number!r}")
        self._newest = done, total, message and message[:MESSAGE_LENGTH]
        if self._task is None and not self._closed.is_set():
            self._task = asyncio.create_task(self._send())

    def close(self) -> None:
        """Send nothing more; what is on its way arrives."""
        self._closed.set()

    async def _send(self) -> None:
        while not self._closed.is_set() and (newest := self._newest) is not None:
            self._newest = None
            try:
                done, total, message = newest
                await self._connection.call(
                    ledger.report_progress, *self._fence, done, total, message
                )
            except LedgerError as error:  # lost or away: the heartbeat and the settlement act on it
                log.debug("progress.untold", job_id=self._fence[0], reason=str(error))
            with suppress(TimeoutError):
                await asyncio.wait_for(self._closed.wait(), PROGRESS_SECONDS)
        self._task = None


def _is_count(number: object) -> bool:
    return isinstance(number, int) and 0 <= number < 2**63
