"""Execution: one claimed job from its params to its answer."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
)
from typing import Any, Protocol

import orjson
from psycopg import AsyncConnection
from pydantic import ValidationError

from pgplane import logs
from pgplane.client_database import reading
from pgplane.errors import Refusal
from pgplane.ledger.records import Claim
from pgplane.operation import Envelope, Operation, Params, invalid_params
from pgplane.surface import Surface
from pgplane.worker.answers import RESULT_BYTES, Answer, Completion, refused, too_large
from pgplane.worker.cache import SingleFlight, TtlCache
from pgplane.worker.connection import WarmConnection
from pgplane.worker.encoding import encode
from pgplane.worker.output import Output

WHOLE_BYTES = 64 * 1024 * 1024
"""The largest result that becomes a blob by itself: it is in memory, and at the caller again."""
MAX_WRONG_FIELDS = 100
"""As many as the edge tells: what is wrong must not be larger than an answer may be."""
JSON = "application/json"
_PERHAPS_A_MARK = re.compile(rb'\s*\{\s*"(?:blobRef"|[^"]*\\u)')
"""How an object begins whose only name is `blobRef`, plain or with an escape in it."""

log = logs.get("job")


class UnknownOperationError(Exception):
    """This worker has no handler for the job's operation and version."""


class Pool(Protocol):
    """Lends connections to the client database."""

    def connection(self) -> AbstractAsyncContextManager[AsyncConnection[Any]]: ...


class Executor:
    """Runs a surface's operations over a pool of read-only connections.

    `outputs` is the connection to the queue database that handlers send blobs and progress by.
    """

    def __init__(
        self, surface: Surface, pool: Pool, cache: TtlCache[Answer], outputs: WarmConnection
    ) -> None:
        self._surface = surface
        self._pool = pool
        self._cache = cache
        self._outputs = outputs
        self._flights: SingleFlight[Answer] = SingleFlight(lambda answer: answer.settling)
        surface.on_invalidate(cache.invalidate)

    def operation(self, claim: Claim) -> Operation:
        """The job's operation. Raises UnknownOperationError."""
        operation = self._surface.get(claim.operation, claim.version)
        if operation is None:
            version = f" v{claim.version}" if claim.version is not None else ""
            raise UnknownOperationError(
                f"this worker has no handler for {claim.operation}{version}"
            )
        return operation

    async def execute(self, claim: Claim, *, past_cache: bool = False) -> Completion:
        """The job's answer; an expected refusal is one. Raises whatever else a handler raises.

        `past_cache`: it is computed for this job, whoever else has it or computes it.
        """
        with _contained():
            return await self._execute(claim, past_cache)

    def forget(self, claim: Claim, answer: Answer) -> None:
        """Drop an answer from the cache: what it names is gone."""
        if claim.cache_key is not None:
            self._cache.drop(claim.cache_key, answer)

    async def _execute(self, claim: Claim, past_cache: bool) -> Completion:
        operation = self.operation(claim)
        try:
            envelope = _envelope(claim, operation)
            params = operation.params.model_validate_json(claim.params)
            await self._pass_gates(operation, params, envelope)
        except Refusal as refusal:
            return Completion(refused(refusal))
        except ValidationError as invalid:
            return Completion(refused(invalid_params(*_wrong_fields(invalid))))

        async def compute() -> Answer:
            with _contained():  # it is a task of its own
                return await self._compute(operation, params, envelope, claim)

        if claim.cache_key is None or past_cache:
            return Completion(await compute())
        if not claim.fresh and (kept := self._cache.get(claim.cache_key)):
            return Completion(kept, "hit")
        while True:
            answer, shared = await self._flights.run(claim.cache_key, compute, fresh=claim.fresh)
            if not shared:
                return Completion(answer)
            if answer.origin is not None and answer.origin.job_id == claim.job_id:
                return Completion(await compute())  # an attempt that this one has replaced
            if answer.settling is None or await asyncio.shield(answer.settling):
                return Completion(answer, "coalesced")

    async def _pass_gates(self, operation: Operation, params: Params, envelope: Envelope) -> None:
        async with AsyncExitStack() as stack:
            lent: list[AsyncConnection[Any]] = []

            async def lend() -> AsyncConnection[Any]:
                if not lent:
                    lent.append(await stack.enter_async_context(self._reading(operation)))
                return lent[0]

            await operation.check(params, envelope, lend)

    @asynccontextmanager
    async def _reading(self, operation: Operation) -> AsyncIterator[AsyncConnection[Any]]:
        async with (
            self._pool.connection() as connection,
            # The worker's clock stops the handler, the server's is for a worker that is gone.
            reading(connection, operation.timeout_seconds + 1) as client,
        ):
            yield client

    async def _compute(
        self, operation: Operation, params: Params, envelope: Envelope, claim: Claim
    ) -> Answer:
        as_of = self._cache.as_of()
        output = Output(self._outputs, claim.job_id, claim.attempt)
        try:
            async with self._reading(operation) as client:
                value = await operation.answer(params, envelope, client, output)
            answer = await self._answer(value, claim, output)
        except Refusal as refusal:
            return refused(refusal, output.origin)
        finally:
            output.close()
        key = claim.cache_key
        if key is None or answer.error is not None:
            return answer
        tags = operation.cache_tags(params, envelope)

        def keep(settled: asyncio.Future[bool] | None) -> None:
            if settled is None or settled.result():
                self._cache.put(key, answer, ttl=operation.ttl_seconds, tags=tags, as_of=as_of)

        if answer.settling is None:
            keep(None)
        else:
            answer.settling.add_done_callback(keep)
        return answer

    async def _answer(self, value: object, claim: Claim, output: Output) -> Answer:
        """What a handler returned, as the ledger takes it; what is too large for it is a blob."""
        text, replaced = encode(value)
        if replaced:
            log.warning("result.altered", job_id=claim.job_id, replaced=replaced)
        has_reader = claim.cache_key is not None  # else no scope: nobody could read a blob
        if len(text) <= RESULT_BYTES and not (has_reader and _is_mark(text)):
            return Answer(result=text, origin=output.origin)
        if not has_reader:
            return too_large(claim.operation, len(text))
        if len(text) > WHOLE_BYTES:
            return too_large(claim.operation, len(text), "its handler can write it by Work.blob")
        async with output.blob(JSON) as blob:
            await blob.write(text)
        whole = blob.ref["blobRef"] | {"whole": True}
        return Answer(result=encode({"blobRef": whole}).text, origin=output.origin)


@contextmanager
def _contained() -> Iterator[None]:
    """What an author raises to end the process ends his operation."""
    try:
        yield
    except (SystemExit, KeyboardInterrupt) as error:
        raise RuntimeError(f"the operation raised {type(error).__name__}") from error


def _is_mark(text: bytes) -> bool:
    """Whether a caller would take this result for the name of a blob that holds the result."""
    if _PERHAPS_A_MARK.match(text) is None:
        return False
    try:
        result = orjson.loads(text)
    except orjson.JSONDecodeError:  # too deep for it, so not to be judged
        return True
    reference = result.get("blobRef") if len(result) == 1 else None
    return isinstance(reference, dict) and "whole" in reference


def _envelope(claim: Claim, operation: Operation) -> Envelope:
    try:
        envelope = Envelope.model_validate_json(claim.envelope)
    except ValidationError:
        raise Refusal(
            403, "ENVELOPE", "the job's envelope names no client or scope: it may see nothing"
        ) from None
    return envelope if operation.per_actor else envelope.model_copy(update={"actor": None})


def _wrong_fields(invalid: ValidationError) -> Iterator[tuple[str, str]]:
    found = invalid.errors(include_url=False, include_context=False, include_input=False)
    for one in found[:MAX_WRONG_FIELDS]:
        yield ".".join(map(str, one["loc"])), one["msg"].removeprefix("Value error, ")
