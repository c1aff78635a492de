"""Answers: what a job is completed with, and what an attempt says when it has none."""

import asyncio
from dataclasses import dataclass
from typing import Literal

import orjson
import psycopg

from pgplane import logs
from pgplane.errors import LedgerError, Refusal
from pgplane.worker.encoding import encode

RESULT_BYTES = 1024 * 1024
"""What the ledger keeps inline; here, so that nothing larger is sent there."""
MESSAGE_LENGTH = 500


class Origin:
    """The attempt that wrote the blobs of an answer.

    They are nobody's before it has completed its job, and never anybody's if it does not.
    """

    def __init__(self, job_id: int, attempt: int) -> None:
        self.job_id = job_id
        self.attempt = attempt
        self.kept: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    @property
    def fence(self) -> tuple[int, int]:
        """Job id and attempt."""
        return self.job_id, self.attempt

    def settle(self, kept: bool) -> None:
        """Tell whether the attempt completed its job; only what is told first counts."""
        if not self.kept.done():
            self.kept.set_result(kept)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a job is completed with, as JSON text: a result, or the payload of a refusal.

    `origin` is None where its computation wrote no blob.
    """

    result: bytes | None = None
    error: bytes | None = None
    origin: Origin | None = None

    @property
    def size(self) -> int:
        """Bytes of its text."""
        return len(self.result or self.error or b"")

    @property
    def settling(self) -> asyncio.Future[bool] | None:
        """What must have come true before another job can be completed with it; None: nothing."""
        return None if self.origin is None else self.origin.kept


@dataclass(frozen=True, slots=True)
class Completion:
    """An answer and where it came from: `hit`, `coalesced`, or None, computed for this job."""

    answer: Answer
    cache: Literal["hit", "coalesced"] | None = None


def refused(refusal: Refusal, origin: Origin | None = None) -> Answer:
    """An expected refusal, which is an answer."""
    return Answer(error=encode(refusal.payload()).text, origin=origin)


def too_large(operation: str, size: int, advice: str = "ask for less") -> Answer:
    """The refusal that stands in for an answer which cannot be kept."""
    message = f"the answer of {operation} has {size} bytes, too many to be kept; {advice}"
    return refused(Refusal(413, "RESULT_TOO_LARGE", message, bytes=size))


def failure(error: BaseException) -> str:
    """The payload `{code, message, type}` of a failed attempt: no traceback, no credentials.

    Of a database error only the primary message is kept: its detail may quote rows. What the
    ledger refused keeps its hint.
    """
    code = "FAILED"
    try:
        message = str(error)
    except Exception:  # a handler's own exception may have no words
        message = ""
    if isinstance(error, psycopg.Error) and error.diag.message_primary:
        message, code = error.diag.message_primary, f"SQL_{error.sqlstate}"
    if isinstance(error, LedgerError):
        message = error.advice
    message = logs.mask(message).strip().split("\n", 1)[0][:MESSAGE_LENGTH]
    kind = type(error).__name__
    return encode({"code": code, "message": message or kind, "type": kind}).text.decode()


def stopped(code: str, message: str) -> str:
    """The payload of an attempt that this worker itself ended."""
    return orjson.dumps({"code": code, "message": message, "type": "Stopped"}).decode()
