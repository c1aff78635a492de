"""Wording: what is wrong with params, as a worker would put it.

A worker's pydantic has one fault for a field, and says it without quoting the value; so it is here,
in the same words where both libraries see the same fault.
"""

from collections.abc import Iterable
from decimal import Decimal
from typing import NamedTuple

from jsonschema_rs import ValidationError
from jsonschema_rs import ValidationErrorKind as Kind

ROOT = ""
"""The field of what is wrong with params as a whole."""

_NAMES = {
    "string": "a valid string",
    "integer": "a valid integer",
    "number": "a valid number",
    "boolean": "a valid boolean",
    "array": "a valid array",
    "object": "an object",
    "null": "null",
}
_RANKS = ("enum", "const", "type", "multipleOf", "maxLength", "minLength")


class Wrong(NamedTuple):
    """A field (its path, dotted) and what is wrong with it."""

    field: str
    message: str


def faults(errors: Iterable[ValidationError]) -> list[Wrong]:
    """The faults of params, one a field, by field."""
    found: dict[str, tuple[int, Wrong]] = {}
    for error in _told(errors):
        for wrong in _worded(error):
            rank = _rank(error)
            if wrong.field not in found or rank < found[wrong.field][0]:
                found[wrong.field] = rank, wrong
    return sorted(wrong for _, wrong in found.values())


def undecided(error: ValidationError) -> bool:
    """Whether a regular expression gave up, so that nobody knows whether this is a fault."""
    match error.kind:
        case Kind.BacktrackLimitExceeded() | Kind.RegexEngineFailure():
            return True
        case Kind.AnyOf(context) | Kind.OneOfNotValid(context) | Kind.OneOfMultipleValid(context):
            return any(undecided(inner) for branch in context for inner in branch)
        case Kind.PropertyNames(inner):
            return undecided(inner)
    return False


def _told(errors: Iterable[ValidationError]) -> Iterable[ValidationError]:
    """The errors, and for a choice with `null` those of what else it may be."""
    for error in errors:
        match error.kind:
            case Kind.AnyOf(context):
                others = [branch for branch in context if not _wants_null(branch)]
                if len(others) == 1:
                    yield from _told(others[0])
                    continue
        yield error


def _wants_null(branch: list[ValidationError]) -> bool:
    return any(isinstance(one.kind, Kind.Type) and one.kind.types == ["null"] for one in branch)


def _rank(error: ValidationError) -> int:
    """Which of several faults of a field is told: the lowest."""
    keyword = error.kind.name
    return _RANKS.index(keyword) if keyword in _RANKS else len(_RANKS)


def _worded(error: ValidationError) -> list[Wrong]:
    match error.kind:
        case Kind.Required(name):
            return [_wrong(error, "Field required", name)]
        case Kind.AdditionalProperties(names) | Kind.UnevaluatedProperties(names):
            return [_wrong(error, "Extra inputs are not permitted", name) for name in names]
    return [_wrong(error, _message(error))]


def _wrong(error: ValidationError, message: str, *further: str) -> Wrong:
    return Wrong(".".join(map(str, (*error.instance_path, *further))), message)


def _message(error: ValidationError) -> str:
    match error.kind:
        case Kind.Type(types):
            return _type(types, error.instance)
        case Kind.Enum(options):
            return f"Input should be {_either([_shown(option) for option in options])}"
        case Kind.Constant(value):
            return f"Input should be {_shown(value)}"
        case Kind.Minimum(limit):
            return f"Input should be greater than or equal to {_number(limit)}"
        case Kind.Maximum(limit):
            return f"Input should be less than or equal to {_number(limit)}"
        case Kind.ExclusiveMinimum(limit):
            return f"Input should be greater than {_number(limit)}"
        case Kind.ExclusiveMaximum(limit):
            return f"Input should be less than {_number(limit)}"
        case Kind.MultipleOf(of):
            return f"Input should be a multiple of {_number(of)}"
        case Kind.MinLength(limit):
            return f"String should have at least {_counted(limit, 'character')}"
        case Kind.MaxLength(limit):
            return f"String should have at most {_counted(limit, 'character')}"
        case Kind.MinItems(limit):
            return f"List should have at least {_items(limit, error.instance)}"
        case Kind.MaxItems(limit):
            return f"List should have at most {_items(limit, error.instance)}"
        case Kind.Pattern(pattern):
            return f"String should match pattern '{pattern}'"
    return error.message


def _type(types: list[str], value: object) -> str:
    wanted = f"Input should be {_either([_NAMES[name] for name in types])}"
    if types == ["integer"] and isinstance(value, float | Decimal):
        return f"{wanted}, got a number with a fractional part"
    return wanted


def _items(limit: int, value: object) -> str:
    given = len(value) if isinstance(value, list) else 0
    return f"{_counted(limit, 'item')} after validation, not {given}"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _either(words: list[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last


def _shown(value: object) -> str:
    return repr(value) if isinstance(value, str) else str(value)


def _number(value: object) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
