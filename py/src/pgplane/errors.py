"""Errors: what the ledger refuses, what a handler answers, what an outage looks like."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import psycopg
import psycopg_pool


class LedgerError(Exception):
    """A refusal of the queue database: SQLSTATE, constant message, detail (`k=v`) and hint."""

    status: int = 500

    def __init__(
        self,
        message: str,
        *,
        sqlstate: str = "",
        detail: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.sqlstate = sqlstate
        self.detail = detail
        self.hint = hint
        if sqlstate.startswith("PL"):
            self.status = int(sqlstate[2:])

    @property
    def advice(self) -> str:
        """The message and, where there is one, the hint."""
        return f"{self.message}: {self.hint}" if self.hint else self.message


class NotFound(LedgerError):
    """No such queue, operation, job."""


class Conflict(LedgerError):
    """The state does not allow this: a lost attempt, a job that is not poison."""


class Gone(LedgerError):
    """It was there and has expired."""


class TooLarge(LedgerError):
    """What was given is above its limit: params, a result, a manifest, a piece of a blob."""


class Invalid(LedgerError):
    """Arguments out of domain, or JSON that PostgreSQL cannot hold (an endless number)."""

    status = 422


class Unstorable(Invalid):
    """A character that PostgreSQL's text cannot hold: a NUL."""


class QueueFull(LedgerError):
    """The queue's depth limit is reached; try again later."""


class NotReady(LedgerError):
    """Nothing has registered what is asked for yet; try again soon."""


class NotMigrated(LedgerError):
    """There is no such schema, table, function or column: a fault of the deployment."""


class Forbidden(LedgerError):
    """The login role lacks a grant: a fault of the deployment, not of the caller."""


class Busy(LedgerError):
    """A lock or statement timeout, a deadlock: nothing changed, try again."""

    status = 503


class Unavailable(LedgerError):
    """The database cannot be reached, is starting or going down; what was asked may be done."""

    status = 503


ERRORS: dict[str, type[LedgerError]] = {
    "PL404": NotFound,
    "PL409": Conflict,
    "PL410": Gone,
    "PL413": TooLarge,
    "PL422": Invalid,
    "PL429": QueueFull,
    "PL503": NotReady,
    "22003": Invalid,
    "22023": Invalid,
    "22P02": Invalid,
    "22P05": Unstorable,
    "22021": Unstorable,
    "3F000": NotMigrated,
    "42P01": NotMigrated,
    "42883": NotMigrated,
    "42703": NotMigrated,
    "42501": Forbidden,
    "40001": Busy,
    "40P01": Busy,
    "55P03": Busy,
    "57014": Busy,
    "53300": Unavailable,
    "57P01": Unavailable,
    "57P02": Unavailable,
    "57P03": Unavailable,
    "25006": Unavailable,
}
"""SQLSTATE → exception. Anything else with an SQLSTATE is a plain `LedgerError`, status 500."""

_CONNECTION_FAULTS = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    psycopg_pool.PoolTimeout,
    psycopg_pool.PoolClosed,
    OSError,
)


def translate(error: Exception) -> LedgerError | None:
    """The ledger's own exception for a psycopg error; None for what is not the database's."""
    if isinstance(error, psycopg.Error) and error.sqlstate:
        sqlstate = error.sqlstate
        kind = Unavailable if sqlstate.startswith("08") else ERRORS.get(sqlstate, LedgerError)
        return kind(
            error.diag.message_primary or str(error),
            sqlstate=sqlstate,
            detail=error.diag.message_detail,
            hint=error.diag.message_hint,
        )
    if isinstance(error, psycopg.DataError):
        return Invalid(str(error))
    if isinstance(error, UnicodeEncodeError):
        return Invalid("half a surrogate pair is no text")
    if isinstance(error, _CONNECTION_FAULTS):
        return Unavailable("the queue database is unreachable", detail=type(error).__name__)
    return None


@contextmanager
def ledger_errors() -> Iterator[None]:
    """Raise `LedgerError` in place of psycopg's, also around a pool's checkout."""
    try:
        yield
    except Exception as error:
        translated = translate(error)
        if translated is None:
            raise
        raise translated from error


class Refusal(Exception):
    """Why a job has no result: it completes the job, as an answer `{status, code, message, …}`.

    `code` is a stable word for programs (`NO_SUCH_FLIGHT`), `message` a sentence for people;
    further `fields` travel in the payload.
    """

    def __init__(self, status: int, code: str, message: str, **fields: object) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.fields = fields

    def payload(self) -> dict[str, object]:
        """What the ledger keeps as the job's error."""
        return {**self.fields, "status": self.status, "code": self.code, "message": self.message}


class HttpError(Refusal):
    """A handler's or gate's expected refusal."""

    def __init__(
        self, status: Literal[400, 403, 404], code: str, message: str, **fields: object
    ) -> None:
        if status not in (400, 403, 404):
            raise ValueError(f"an HttpError is 400, 403 or 404, not {status}")
        super().__init__(status, code, message, **fields)
