"""Surfaces: an application area's operations, as their authors declare them.

    flights = Surface("flights")

    class FlightParams(Params):
        carrier: str
        flight: int

    @flights.operation("flight", timeout_seconds=10)
    async def flight(params: FlightParams, envelope: Envelope, client: AsyncConnection) -> object:
        ...

`client` is inside a read-only transaction on the client database; it is committed for the
handler. What a handler returns becomes JSON; rows read as `json`/`jsonb` pass through untouched.
"""

import inspect
import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

from psycopg import AsyncConnection
from pydantic import BaseModel, ConfigDict

from pgplane import sqlfile
from pgplane.client import rows_as_json
from pgplane.errors import Refusal
from pgplane.names import is_queue_of, queue_of

_OPERATION = re.compile(r"[A-Za-z][A-Za-z0-9_.:-]{0,99}")
MAX_VERSION = 1_000_000
MAX_TTL_SECONDS = 365 * 86_400
MAX_TIMEOUT_SECONDS = 7 * 86_400
_ENVELOPE_TYPES = {"client": "text", "scope": "text[]", "staff": "boolean", "actor": "text"}


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


P = TypeVar("P", bound=Params)
Handler = Callable[[P, Envelope, AsyncConnection[Any]], Awaitable[object]]
Gate = Callable[[P, Envelope], None]
"""Raises HttpError to refuse; run for every job, and before every cached answer."""
Tags = Callable[[P, Envelope], Iterable[str]]
"""Further cache tags of one answer, beside `c:<client>` and, per actor, `u:<actor>`."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One named, versioned query handler."""

    name: str
    version: int
    params: type[Params]
    handler: Handler[Any]
    ttl_seconds: int
    timeout_seconds: int
    per_actor: bool
    gates: tuple[Gate[Any], ...]
    tags: Tags[Any] | None

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


class Surface:
    """A named set of operations; its queue is `surface-<name>` plus the tier's suffix.

    A name has at most 40 characters: lower-case letters, digits and `_`.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.queue = queue_of(name)
        self._operations: dict[tuple[str, int], Operation] = {}

    def operation(
        self,
        name: str,
        *,
        version: int = 1,
        ttl_seconds: int = 0,
        timeout_seconds: int = 30,
        per_actor: bool = False,
        gates: Iterable[Gate[Any]] = (),
        tags: Tags[Any] | None = None,
    ) -> Callable[[Handler[P]], Handler[P]]:
        """Register the decorated coroutine; its first parameter's annotation is the params model.

        `name`: a letter, then up to 99 letters, digits and `_.:-`. `ttl_seconds`: how long an
        answer may be served from the cache, 0 never. `timeout_seconds`: when the handler and its
        query are stopped. `per_actor`: the answer depends on the person. Raises ValueError for
        what the queue database would not take.
        """

        def register(handler: Handler[P]) -> Handler[P]:
            self._add(
                Operation(
                    name=name,
                    version=version,
                    params=_params_of(handler),
                    handler=handler,
                    ttl_seconds=ttl_seconds,
                    timeout_seconds=timeout_seconds,
                    per_actor=per_actor,
                    gates=tuple(gates),
                    tags=tags,
                )
            )
            return handler

        return register

    def sql_operation(
        self,
        name: str,
        path: str | Path,
        params: type[P],
        *,
        version: int = 1,
        ttl_seconds: int = 0,
        timeout_seconds: int = 30,
        per_actor: bool = False,
        gates: Iterable[Gate[Any]] = (),
        tags: Tags[Any] | None = None,
    ) -> None:
        """Register a `.sql` file: one query whose `:names` are fields of `params` (by alias, where
        one is set), or `:client`, `:scope` (text[]), `:staff` and, per actor, `:actor`. It answers
        `{"rows": […]}`.

        Raises sqlfile.SqlFileError: an unknown name, a quote that is never closed, and the like.
        """
        path = Path(path)
        query = sqlfile.load(path, lambda parameter: _sql_type(parameter, params, per_actor))

        async def handler(params: P, envelope: Envelope, client: AsyncConnection[Any]) -> object:
            known = params.model_dump(by_alias=True) | envelope.model_dump()
            values = [_bound(parameter, known[parameter]) for parameter in query.names]
            return await rows_as_json(client, query.text, values)

        handler.__annotations__["params"] = params
        self.operation(
            name,
            version=version,
            ttl_seconds=ttl_seconds,
            timeout_seconds=timeout_seconds,
            per_actor=per_actor,
            gates=gates,
            tags=tags,
        )(handler)

    def get(self, name: str, version: int | None = None) -> Operation | None:
        """The operation of exactly this version; without one, the newest."""
        if version is None:
            version = max((v for n, v in self._operations if n == name), default=0)
        return self._operations.get((name, version))

    def answers(self, queue: str) -> bool:
        """Whether this is its queue, in whichever tier: `surface-<name>`, `surface-<name>-dev`."""
        return is_queue_of(self.name, queue)

    def manifest(self) -> list[dict[str, object]]:
        """Every operation, as `register_manifest` takes them."""
        return [operation.manifest() for operation in self._operations.values()]

    def _add(self, operation: Operation) -> None:
        key = operation.name, operation.version
        if not _OPERATION.fullmatch(operation.name):
            raise ValueError(
                "an operation's name is a letter, then up to 99 letters, digits and _.:-:"
                f" {operation.name!r}"
            )
        if key in self._operations:
            raise ValueError(f"operation {operation.name} v{operation.version} is there already")
        limits: tuple[tuple[str, Any, int, int], ...] = (
            ("version", operation.version, 1, MAX_VERSION),
            ("ttl_seconds", operation.ttl_seconds, 0, MAX_TTL_SECONDS),
            ("timeout_seconds", operation.timeout_seconds, 1, MAX_TIMEOUT_SECONDS),
        )
        for what, value, least, most in limits:
            if not isinstance(value, int) or not least <= value <= most:
                raise ValueError(
                    f"operation {operation.name}: {what} is a whole number"
                    f" from {least} to {most}, not {value!r}"
                )
        self._operations[key] = operation


def _params_of(handler: Handler[P]) -> type[Params]:
    first = next(iter(inspect.signature(handler, eval_str=True).parameters.values()), None)
    model = first.annotation if first is not None else None
    if not (isinstance(model, type) and issubclass(model, Params)):
        raise TypeError(
            f"{getattr(handler, '__qualname__', handler)}: annotate the first parameter with a"
            " model derived from pgplane.surface.Params"
        )
    if model.model_config.get("extra") != "forbid":
        raise TypeError(f"{model.__name__} must keep extra='forbid': unknown fields are refused")
    return model


def _sql_type(name: str, params: type[Params], per_actor: bool) -> str:
    """The type of `:name` in an operation's `.sql` file."""
    fields = {field.alias or own: field for own, field in params.model_fields.items()}
    if name in _ENVELOPE_TYPES:
        if name in fields:
            raise sqlfile.SqlFileError(f":{name} is the envelope's; name the field otherwise")
        if name == "actor" and not per_actor:
            raise sqlfile.SqlFileError(":actor needs per_actor=True, else callers share the answer")
        return _ENVELOPE_TYPES[name]
    if name not in fields:
        raise sqlfile.SqlFileError(f":{name} is neither a field of {params.__name__} nor reserved")
    return sqlfile.sql_type(fields[name].annotation)


def _bound(name: str, value: Any) -> Any:
    """A value as psycopg binds it: any collection is an array, an enum is its value."""
    if isinstance(value, list | tuple | set | frozenset):
        return [_bound(name, item) for item in value]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise invalid_params((name, "a whole number has 64 bits at most"))
    return value
