"""Params: a question's params against the JSON Schema of its operation.

The schema comes from a worker and the params from anybody, so neither may cost much: nothing is
fetched, nothing nests deeply, regular expressions give up, and not every fault of much is told. A
choice of choices may cost any time all the same: see the checker.
"""

import math
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from jsonschema_rs import Draft202012Validator, FancyRegexOptions, ValidationError

from pgplane.edge.checking.wording import ROOT, Wrong, faults, undecided
from pgplane.edge.strict import decoder

MAX_DEPTH = 64
"""Objects and arrays inside each other, in params and in a schema: both are walked natively."""
MAX_DIGITS = 4300
"""Of a whole number: Python reads no more, nor does a worker's pydantic."""
ALL_FAULTS_BYTES = 4096
"""Params up to this size are told all that is wrong with them, larger ones the first fault:
a list of faults is made whole, and may be a thousand times as dear as the check."""
MAX_FAULTS = 100
BACKTRACKS = 100_000
"""Steps back that one regular expression may take; only look-arounds and the like need any."""


class ParamsSchema:
    """The JSON Schema (Draft 2020-12) of an operation's params.

    `format` is a remark, as the standard has it: whether a date is one is the worker's to say. A
    schema that cannot be used (a `$ref` to elsewhere, a fault) refuses nothing.
    """

    def __init__(self, text: bytes) -> None:
        self.document: dict[str, Any] | None = None
        """The schema itself; None: it cannot be used."""
        self.reason: str | None = None
        """Why it cannot be used."""
        self._validator: Draft202012Validator | None = None
        try:
            self._compile(text)
        except ValueError as error:
            self.reason = str(error).split("\n", 1)[0][:200]

    def faults(self, params: str) -> list[Wrong]:
        """What is wrong with params, by field; none: they fit, or it is not for the edge to say."""
        if self._validator is None:
            return []
        try:
            value = parse(params)
        except EndlessError as error:
            return [Wrong(field, "Input should be a finite number") for field in error.fields]
        except ValueError as error:
            return [Wrong(ROOT, str(error))]
        try:
            if self._validator.is_valid(value):
                return []
            errors = _errors(self._validator, value, len(params) <= ALL_FAULTS_BYTES)
        except ValueError:  # half a surrogate pair: no text, the ledger will say
            return []
        return faults(error for error in errors if not undecided(error))[:MAX_FAULTS]

    def _compile(self, text: bytes) -> None:
        schema = parse(text.decode())
        if not isinstance(schema, dict):
            raise ValueError("a schema of params is an object")
        self._validator = Draft202012Validator(
            schema,
            validate_formats=False,
            offline=True,
            mask="Input",
            pattern_options=FancyRegexOptions(backtrack_limit=BACKTRACKS),
        )
        self.document = schema


def _errors(validator: Draft202012Validator, value: object, every: bool) -> list[ValidationError]:
    if every:
        return list(validator.iter_errors(value))
    try:
        validator.validate(value)
    except ValidationError as error:
        return [error]
    return []


class EndlessError(ValueError):
    """JSON with numbers beyond the range of a float; `fields` are where."""

    def __init__(self, fields: list[str]) -> None:
        super().__init__("Invalid JSON: number out of range")
        self.fields = fields


def parse(text: str) -> Any:
    """JSON text as Python objects.

    Raises EndlessError; ValueError where it nests deeper than MAX_DEPTH, or has a whole number of
    more than MAX_DIGITS.
    """
    try:
        value = _decoder.decode(text)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    _survey(value)
    return value


_TOO_DEEP = "Invalid JSON: recursion limit exceeded"


def _whole(digits: str) -> int:
    if len(digits.lstrip("-")) > MAX_DIGITS:
        raise ValueError("Invalid JSON: number out of range")
    return int(digits)


_decoder = decoder(_whole)


def _survey(value: object) -> None:
    """Look through a document, level by level, since recursion is what is to be kept away."""
    level: list[Any] = [[value]]
    endless = False
    for _ in range(MAX_DEPTH + 1):
        inside = [child for one in level for child in _children(one)]
        endless = endless or any(isinstance(one, float) and math.isinf(one) for one in inside)
        level = [child for child in inside if isinstance(child, dict | list)]
        if not level:
            break
    else:
        raise ValueError(_TOO_DEEP)
    if endless:
        raise EndlessError(list(islice(_endless(value, ()), MAX_FAULTS)))


def _children(value: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value


def _endless(value: object, field: tuple[object, ...]) -> Iterator[str]:
    if isinstance(value, float) and math.isinf(value):
        yield ".".join(map(str, field))
    elif isinstance(value, dict | list):
        for name, child in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _endless(child, (*field, name))
