"""Operations: one named, versioned query handler, and what it is given.

A handler takes its validated params, the envelope, a connection to the client database that is
inside a read-only transaction, and, where it has a fourth parameter, its `Work`:

    async def flights_csv(
        params: Year, envelope: Envelope, client: AsyncConnection, work: Work
    ) -> object:
        return await work.copy_csv(client, QUERY, {"year": params.year}, "flights.csv")
"""

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol, TypedDict, TypeVar

from psycopg import AsyncConnection
from pydantic import BaseModel, ConfigDict

from pgplane.errors import Refusal

BlobRef = dict[str, dict[str, object]]
"""What a result names a blob by: `{"blobRef": {blob, contentType, filename, size}}`."""


class Params(BaseModel):
    """Base of params models: no field but the declared ones, frozen. Its JSON Schema is public."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def invalid_params(*wrong: tuple[str, str]) -> Refusal:
    """The refusal of params: each wrong field, and what is wrong with it."""
    errors = [{"field": field, "message": message} for field, message in wrong]
    return Refusal(422, "PARAMS", "invalid params", errors=errors)


class Envelope(BaseModel):
    """Who asks, from verified token claims alone.

    `actor` is None for an operation that is not declared `per_actor`: callers of one scope share
    its answers, so it must not depend on who of them came first.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    client: str
    scope: tuple[str, ...]
    staff: bool = False
    actor: str | None = None

    def sees(self, branch: str) -> bool:
        """Whether this branch is in the caller's scope; staff sees all of their client's."""
        return self.staff or branch in self.scope


class Blob(Protocol):
    """A payload under way to the queue database, too large for a result."""

    async def write(self, data: bytes) -> None:
        """Go on with these bytes, of whatever length; one call after another."""

    @property
    def ref(self) -> BlobRef:
        """What the result is to name it by, once all is written."""


class Work(Protocol):
    """What a handler can do beside answering: tell how far it is, and write blobs."""

    def progress(self, done: int, total: int | None = None, message: str | None = None) -> None:
        """Tell who waits how far it is: costs nothing, and is sent at most four times a second.

        `total` None: not known. Raises ValueError for what is below 0 or no whole number.
        """

    def blob(
        self, content_type: str, filename: str | None = None
    ) -> AbstractAsyncContextManager[Blob]:
        """A new blob, to be written inside `async with`; the result names it by its `ref`.

        `content_type` as in `text/csv; charset=utf-8`; `filename` without a path, None is none.
        """

    async def copy_csv(
        self,
        client: AsyncConnection[Any],
        query: str,
        values: Sequence[object] | Mapping[str, object] | None,
        filename: str,
        total: int | None = None,
    ) -> BlobRef:
        """The rows of one SELECT as a CSV file (UTF-8, a header line), in constant memory.

        `total`: how many rows there will be, as far as is known; progress is told in rows then.

        `values` for its `%s` or `%(name)s`, as for `client.execute`, and put in by this program:
        COPY binds none. A name of a table or column must not come from params.
        """


P = TypeVar("P", bound=Params)
Handler = Callable[[P, Envelope, AsyncConnection[Any]], Awaitable[object]]
WorkHandler = Callable[[P, Envelope, AsyncConnection[Any], Work], Awaitable[object]]
Gate = (
    Callable[[P, Envelope], Awaitable[None] | None]
    | Callable[[P, Envelope, AsyncConnection[Any]], Awaitable[None] | None]
)
"""Raises HttpError to refuse; run for every job, and before every cached answer. It may be a
coroutine; one with a third parameter is given a connection as the handler is."""
Tags = Callable[[P, Envelope], Iterable[str]]
"""Further cache tags of one answer, beside `c:<client>` and, per actor, `u:<actor>`."""


class Declared(TypedDict, total=False):
    """The keyword arguments by which an operation is declared; `Options` says what each does."""

    version: int
    ttl_seconds: int
    timeout_seconds: int
    per_actor: bool
    gates: Iterable[Gate[Any]]
    tags: Tags[Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How an operation is run, and who shares its answers.

    `ttl_seconds`: how long an answer may be served from the cache, 0 never. `timeout_seconds`: when
    the handler and its query are stopped. `per_actor`: the answer depends on the person.
    """

    version: int = 1
    ttl_seconds: int = 0
    timeout_seconds: int = 30
    per_actor: bool = False
    gates: Iterable[Callable[..., Any]] = ()
    tags: Tags[Any] | None = None


Lend = Callable[[], Awaitable[AsyncConnection[Any]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation(Options):
    """One named, versioned query handler."""

    name: str
    params: type[Params]
    handler: Callable[..., Awaitable[object]]
    _takes_work: bool = field(init=False, repr=False)
    _guards: tuple[tuple[Callable[..., Any], bool], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        gates = tuple(self.gates)
        object.__setattr__(self, "gates", gates)
        object.__setattr__(self, "_takes_work", _arguments(self.handler) > 3)
        object.__setattr__(self, "_guards", tuple((gate, _arguments(gate) > 2) for gate in gates))

    async def check(self, params: Params, envelope: Envelope, lend: Lend) -> None:
        """Run the gates, in their order; `lend` a connection to those that read. Raises Refusal."""
        for gate, reads in self._guards:
            told = (await lend(),) if reads else ()
            verdict = gate(params, envelope, *told)
            if inspect.isawaitable(verdict):
                await verdict

    async def answer(
        self, params: Params, envelope: Envelope, client: AsyncConnection[Any], work: Work
    ) -> object:
        """What the handler answers."""
        if self._takes_work:
            return await self.handler(params, envelope, client, work)
        return await self.handler(params, envelope, client)

    def manifest(self) -> dict[str, object]:
        """The operation as `register_manifest` takes it."""
        return {
            "name": self.name,
            "version": self.version,
            "params": self.params.model_json_schema(),
            "ttl_seconds": self.ttl_seconds,
            "timeout_seconds": self.timeout_seconds,
            "per_actor": self.per_actor,
        }

    def cache_tags(self, params: Params, envelope: Envelope) -> tuple[str, ...]:
        """What an answer to this question is dropped by."""
        tags = [f"c:{envelope.client}"]
        if envelope.actor is not None:
            tags.append(f"u:{envelope.actor}")
        if self.tags is not None:
            tags.extend(self.tags(params, envelope))
        return tuple(tags)


def _arguments(function: Callable[..., Any]) -> int:
    """How many positional arguments it cannot do without."""
    return sum(
        parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        for parameter in inspect.signature(function).parameters.values()
    )
