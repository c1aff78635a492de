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
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any, Protocol, Unpack, overload

from psycopg import AsyncConnection

from pgplane import sqlfile
from pgplane.client_database import rows_as_json
from pgplane.names import is_queue_of, queue_of
from pgplane.operation import (
    Blob,
    BlobRef,
    Declared,
    Envelope,
    Handler,
    Operation,
    P,
    Params,
    Work,
    WorkHandler,
    invalid_params,
)

__all__ = ["Blob", "BlobRef", "Envelope", "Operation", "Params", "Surface", "Work"]

_OPERATION = re.compile(r"[A-Za-z][A-Za-z0-9_.:-]{0,99}")
MAX_VERSION = 1_000_000
MAX_TTL_SECONDS = 365 * 86_400
MAX_TIMEOUT_SECONDS = 7 * 86_400
_ENVELOPE_TYPES = {"client": "text", "scope": "text[]", "staff": "boolean", "actor": "text"}


class _Register(Protocol):
    """Registers a handler and hands it back."""

    @overload
    def __call__(self, handler: Handler[P], /) -> Handler[P]: ...
    @overload
    def __call__(self, handler: WorkHandler[P], /) -> WorkHandler[P]: ...


class Surface:
    """A named set of operations; its queue is `surface-<name>` plus the tier's suffix.

    A name has at most 40 characters: lower-case letters, digits and `_`.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.queue = queue_of(name)
        self._operations: dict[tuple[str, int], Operation] = {}
        self._droppers: list[Callable[[str], None]] = []

    def operation(self, name: str, **options: Unpack[Declared]) -> _Register:
        """Register the decorated coroutine; its first parameter's annotation is the params model,
        and where it has a fourth one it is given its `Work`.

        `name`: a letter, then up to 99 letters, digits and `_.:-`. The options are those of
        `Options`. Raises ValueError for what the queue database would not take.
        """

        def register(handler: Any) -> Any:
            self._add(Operation(name=name, params=_params_of(handler), handler=handler, **options))
            return handler

        return register

    def sql_operation(
        self,
        name: str,
        path: str | Path,
        params: type[P],
        *,
        csv: bool = False,
        **options: Unpack[Declared],
    ) -> None:
        """Register a `.sql` file: one query whose `:names` are fields of `params` (by alias, where
        one is set), or `:client`, `:scope` (text[]), `:staff` and, per actor, `:actor`. It answers
        `{"rows": […]}`; with `csv`, for an export, a file `<name>.csv`: `{"blobRef": {…}}`.

        Raises sqlfile.SqlFileError: an unknown name, a quote that is never closed, and the like.
        """
        query = sqlfile.load(
            Path(path),
            lambda parameter: _sql_type(parameter, params, options.get("per_actor", False)),
        )

        def values(params: P, envelope: Envelope) -> dict[str, Any]:
            known = params.model_dump(by_alias=True) | envelope.model_dump()
            return {parameter: _bound(parameter, known[parameter]) for parameter in query.names}

        async def answer(params: P, envelope: Envelope, client: AsyncConnection[Any]) -> object:
            bound = values(params, envelope)
            return await rows_as_json(client, query.text, [bound[name] for name in query.names])

        async def export(
            params: P, envelope: Envelope, client: AsyncConnection[Any], work: Work
        ) -> object:
            bound = values(params, envelope)
            return await work.copy_csv(client, query.template, bound, f"{name}.csv")

        handler: Any = export if csv else answer
        handler.__annotations__["params"] = params
        self.operation(name, **options)(handler)

    def invalidate(self, tag: str) -> None:
        """Drop every cached answer with this tag, in the workers of this process, and do not keep
        what is being computed now. `c:<client>`, `u:<actor>` and an operation's own are tags."""
        for drop in self._droppers:
            drop(tag)

    def on_invalidate(self, drop: Callable[[str], None]) -> None:
        """Have `drop` called with each tag that is invalidated from now on."""
        self._droppers.append(drop)

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


def _params_of(handler: Callable[..., Any]) -> type[Params]:
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
