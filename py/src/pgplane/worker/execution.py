"""Execution: one claimed job from its params to its answer."""

from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import orjson
import psycopg
from psycopg import AsyncConnection
from pydantic import ValidationError

from pgplane import logs
from pgplane.client import reading
from pgplane.errors import Refusal
from pgplane.ledger.records import Claim
from pgplane.surface import Envelope, Operation, Params, Surface, invalid_params
from pgplane.worker.cache import SingleFlight, TtlCache
from pgplane.worker.encoding import encode

RESULT_BYTES = 1024 * 1024
"""What the ledger keeps inline; here, so that nothing larger is sent there or cached."""
MESSAGE_LENGTH = 500

log = logs.get("job")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a job is completed with, as JSON text: a result, or the payload of a refusal."""

    result: str | None = None
    error: str | None = None

    @property
    def size(self) -> int:
        """Bytes of its text."""
        return len((self.result or self.error or "").encode())


@dataclass(frozen=True, slots=True)
class Completion:
    """An answer and where it came from: `hit`, `coalesced`, or None, computed for this job."""

    answer: Answer
    cache: Literal["hit", "coalesced"] | None = None


class UnknownOperationError(Exception):
    """This worker has no handler for the job's operation and version."""


class Pool(Protocol):
    """Lends connections to the client database."""

    def connection(self) -> AbstractAsyncContextManager[AsyncConnection[Any]]: ...


class Executor:
    """Runs a surface's operations over a pool of read-only connections."""

    def __init__(self, surface: Surface, pool: Pool, cache: TtlCache[Answer]) -> None:
        self._surface = surface
        self._pool = pool
        self._cache = cache
        self._flights: SingleFlight[Answer] = SingleFlight()

    def operation(self, claim: Claim) -> Operation:
        """The job's operation. Raises UnknownOperationError."""
        operation = self._surface.get(claim.operation, claim.version)
        if operation is None:
            version = f" v{claim.version}" if claim.version is not None else ""
            raise UnknownOperationError(
                f"this worker has no handler for {claim.operation}{version}"
            )
        return operation

    async def execute(self, claim: Claim) -> Completion:
        """The job's answer; an expected refusal is one. Raises whatever else a handler raises."""
        try:
            return await self._execute(claim)
        except (SystemExit, KeyboardInterrupt) as error:  # they would end the worker
            raise RuntimeError(f"the operation raised {type(error).__name__}") from error

    async def _execute(self, claim: Claim) -> Completion:
        operation = self.operation(claim)
        try:
            envelope = _envelope(claim, operation)
            params = operation.params.model_validate_json(claim.params)
            for gate in operation.gates:
                gate(params, envelope)
        except Refusal as refusal:
            return Completion(_refused(refusal))
        except ValidationError as invalid:
            return Completion(_refused(invalid_params(*_wrong_fields(invalid))))
        if claim.cache_key is None:
            return Completion(await self._compute(operation, params, envelope, claim))
        if not claim.fresh and (kept := self._cache.get(claim.cache_key)):
            return Completion(kept, "hit")
        answer, shared = await self._flights.run(
            claim.cache_key,
            lambda: self._compute(operation, params, envelope, claim),
            fresh=claim.fresh,
        )
        return Completion(answer, "coalesced" if shared else None)

    async def _compute(
        self, operation: Operation, params: Params, envelope: Envelope, claim: Claim
    ) -> Answer:
        as_of = self._cache.as_of()
        try:
            async with (
                self._pool.connection() as connection,
                # The worker's clock stops the handler, the server's is for a worker that is gone.
                reading(connection, operation.timeout_seconds + 1) as client,
            ):
                value = await operation.handler(params, envelope, client)
        except Refusal as refusal:
            return _refused(refusal)
        text, replaced = encode(value)
        if replaced:
            log.warning("result.altered", job_id=claim.job_id, replaced=replaced)
        answer = Answer(result=text)
        if answer.size > RESULT_BYTES:
            return too_large(operation.name, answer)
        if claim.cache_key is not None:
            self._cache.put(
                claim.cache_key,
                answer,
                ttl=operation.ttl_seconds,
                tags=operation.cache_tags(params, envelope),
                as_of=as_of,
            )
        return answer


def _envelope(claim: Claim, operation: Operation) -> Envelope:
    try:
        envelope = Envelope.model_validate_json(claim.envelope)
    except ValidationError:
        raise Refusal(
            403, "ENVELOPE", "the job's envelope names no client or scope: it may see nothing"
        ) from None
    return envelope if operation.per_actor else envelope.model_copy(update={"actor": None})


def _refused(refusal: Refusal) -> Answer:
    return Answer(error=encode(refusal.payload()).text)


def _wrong_fields(invalid: ValidationError) -> Iterator[tuple[str, str]]:
    for one in invalid.errors(include_url=False, include_context=False, include_input=False):
        yield ".".join(map(str, one["loc"])), one["msg"].removeprefix("Value error, ")


def too_large(operation: str, answer: Answer) -> Answer:
    """The refusal that stands in for an answer which the ledger does not keep."""
    message = (
        f"the answer of {operation} has {answer.size} bytes, too many to be kept; ask for less"
    )
    return _refused(Refusal(413, "RESULT_TOO_LARGE", message, bytes=answer.size))


def failure(error: BaseException) -> str:
    """The payload `{code, message, type}` of a failed attempt: no traceback, no credentials.

    Of a database error only the primary message is kept: its detail may quote rows.
    """
    code = "FAILED"
    try:
        message = str(error)
    except Exception:  # a handler's own exception may have no words
        message = ""
    if isinstance(error, psycopg.Error) and error.diag.message_primary:
        message, code = error.diag.message_primary, f"SQL_{error.sqlstate}"
    message = logs.mask(message).strip().split("\n", 1)[0][:MESSAGE_LENGTH]
    kind = type(error).__name__
    return encode({"code": code, "message": message or kind, "type": kind}).text


def stopped(code: str, message: str) -> str:
    """The payload of an attempt that this worker itself ended."""
    return orjson.dumps({"code": code, "message": message, "type": "Stopped"}).decode()
