"""Encoding: what a handler returns, as strict JSON text.

orjson prints what it knows; what it lacks is added here. A Decimal or an integer of any size keeps
its digits, raw JSON passes through, and what JSON cannot hold (NaN, infinities, a lone surrogate)
is replaced and counted, since a good job must not fail for one value.
"""

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal
from enum import Enum
from typing import Any, NamedTuple

import orjson
from pydantic import BaseModel

from pgplane.session import RawJson

_OPTIONS = orjson.OPT_NON_STR_KEYS
_SMALLEST, _LARGEST = -(2**63), 2**64 - 1


class Encoded(NamedTuple):
    """JSON text (UTF-8), and how many values were replaced: NaN and ±∞ by null, lone surrogates by
    U+FFFD."""

    text: bytes
    replaced: int


def encode(value: object) -> Encoded:
    """Raises TypeError, which names the type, for a value that JSON has no form for."""
    if isinstance(value, RawJson):
        return Encoded(bytes(value), 0)
    cleaner = _Cleaner()
    text = orjson.dumps(cleaner.clean(value), option=_OPTIONS)
    return Encoded(text, cleaner.replaced)


class _Cleaner:
    """Turns a value into one that orjson prints digit for digit, counting what it replaces."""

    def __init__(self) -> None:
        self.replaced = 0

    def clean(self, value: Any) -> Any:
        kind = type(value)
        if kind is str:
            return value if value.isascii() else self._text(value)
        if kind is int:
            return value if _SMALLEST <= value <= _LARGEST else orjson.Fragment(str(value))
        if value is None or kind is bool:
            return value
        if kind is float:
            return value if math.isfinite(value) else self._replace(None)
        if kind is dict:
            return {self._key(key): self.clean(item) for key, item in value.items()}
        if kind is list or kind is tuple:
            return [self.clean(item) for item in value]
        return self._other(value)

    def _other(self, value: Any) -> Any:
        match value:
            case RawJson():
                return orjson.Fragment(bytes(value))
            case Decimal():
                # `f` writes an exponent out: 1E+3 is 1000, as PostgreSQL prints it.
                return orjson.Fragment(f"{value:f}") if value.is_finite() else self._replace(None)
            case Enum():
                return self.clean(value.value)
            case str():
                return self._text(str.__str__(value))
            case bool() | int() | float():
                return self.clean(_plain_number(value))
            case BaseModel():
                return self.clean(value.model_dump())
            case Mapping():
                return {self._key(key): self.clean(item) for key, item in value.items()}
            case list() | tuple() | set() | frozenset():
                return [self.clean(item) for item in value]
            case _ if is_dataclass(value) and not isinstance(value, type):
                return {
                    field.name: self.clean(getattr(value, field.name)) for field in fields(value)
                }
            case bytes() | bytearray() | memoryview():
                raise TypeError("a result cannot hold bytes: JSON has no form for them")
        return value

    def _key(self, key: Any) -> Any:
        return self._text(key) if isinstance(key, str) else key

    def _text(self, text: str) -> str:
        try:
            text.encode()
        except UnicodeEncodeError:
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            self._replace(None)
        return text

    def _replace(self, value: None) -> None:
        self.replaced += 1
        return value


def _plain_number(value: int | float) -> int | float:
    return int(value) if isinstance(value, int) else float(value)
