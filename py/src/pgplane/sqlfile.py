"""SQL files: one query with named parameters, `:name`.

A parameter is a colon with a lower-case name right behind it. Strings, quoted identifiers,
dollar-quoted text, comments and `::` casts are left alone; a slice with a name in it wants a space
(`a[1 : n]`).
"""

import enum
import re
import types
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal, Union, get_args, get_origin
from uuid import UUID

_TOKEN = re.compile(
    r"""
      (?P<space>    \s+ | --[^\n]* )
    | (?P<comment>  /\* )
    | (?P<text>     [eE]'(?:[^'\\]|\\.|'')*' | '(?:[^']|'')*' | "(?:[^"]|"")*"
                  | \$(?P<tag>(?:[^\W\d]\w*)?)\$.*?\$(?P=tag)\$ )
    | (?P<word>     [^\W\d][\w$]* )
    | (?P<cast>     :: )
    | :(?P<name>    [a-z_][a-z0-9_]* )
    | (?P<end>      ; )
    | (?P<number>   \$\d+ )
    | (?P<broken>   ['"] | \$(?:[^\W\d]\w*)?\$ )
    | (?P<other>    . )
    """,
    re.VERBOSE | re.DOTALL,
)
_SQL_TYPES: dict[object, str] = {
    str: "text",
    int: "bigint",
    bool: "boolean",
    float: "double precision",
    Decimal: "numeric",
    date: "date",
    datetime: "timestamptz",
    time: "time",
    timedelta: "interval",
    UUID: "uuid",
}
_COMMENT_EDGE = re.compile(r"/\*|\*/")


class SqlFileError(ValueError):
    """A `.sql` operation that cannot work, found when it is registered."""


@dataclass(frozen=True, slots=True)
class Query:
    """A query with `$1 … $n`, and the names that belong there, in that order.

    `template` is the same with `%(name)s`, as psycopg puts values in where the server binds none.
    """

    text: str
    names: tuple[str, ...]
    template: str


def parse(source: str, cast: Callable[[str], str]) -> Query:
    """Turn `:name` into `($n::cast(name))`; the same name is the same `$n` everywhere.

    The explicit type makes `:x is null or a = :x` mean what it says. Raises SqlFileError with the
    line: quote or comment not closed, `$1`, more than one statement, no statement.
    """
    numbers: dict[str, int] = {}
    parts: list[str] = []
    template: list[str] = []
    ended = started = False
    position = 0
    while match := _TOKEN.match(source, position):
        kind, token = match.lastgroup, match.group()
        if kind == "tag":
            kind = "text"
        position = match.end()
        literal = None
        if kind == "comment":
            position = _comment_end(source, match.start())
            token = source[match.start() : position]
        elif kind == "space":
            pass
        elif kind == "end":
            ended, token = True, " "
        elif kind == "broken":
            raise SqlFileError(f"line {_line(source, match)}: {token} is never closed")
        elif kind == "number":
            raise SqlFileError(f"line {_line(source, match)}: {token}: name the parameter, :name")
        elif ended:
            raise SqlFileError(f"line {_line(source, match)}: a second statement; one is enough")
        elif kind == "name":
            name = match["name"]
            number = numbers.setdefault(name, len(numbers) + 1)
            token = f"(${number}::{cast(name)})"
            literal = f"((%({name})s)::{cast(name)})"
        started = started or kind not in ("space", "comment", "end")
        parts.append(token)
        template.append(literal or token.replace("%", "%%"))
    if not started:
        raise SqlFileError("there is no statement")
    text = "".join(parts)
    # without a value psycopg leaves a text as it is, %% included
    return Query(text, tuple(numbers), "".join(template) if numbers else text)


def _line(source: str, match: re.Match[str]) -> int:
    return source.count("\n", 0, match.start()) + 1


def _comment_end(source: str, start: int) -> int:
    """Where the comment that begins at `start` ends; comments nest."""
    depth = 0
    for edge in _COMMENT_EDGE.finditer(source, start):
        depth += 1 if edge.group() == "/*" else -1
        if depth == 0:
            return edge.end()
    raise SqlFileError(f"line {source.count(chr(10), 0, start) + 1}: /* is never closed")


def load(path: Path, cast: Callable[[str], str]) -> Query:
    """Parse a file (UTF-8). Raises SqlFileError, which names it."""
    try:
        return parse(path.read_text(encoding="utf-8"), cast)
    except SqlFileError as error:
        raise SqlFileError(f"{path.name}, {error}") from None


def sql_type(annotation: object) -> str:
    """The SQL type of a parameter so annotated: `str | None` is text, `list[date]` is date[].

    Raises SqlFileError for an annotation without a counterpart.
    """
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return sql_type(arguments[0])
    if origin in (Union, types.UnionType):
        alternatives = {sql_type(one) for one in arguments if one is not type(None)}
    elif origin in (list, tuple, set, frozenset):
        alternatives = {f"{sql_type(one)}[]" for one in arguments if one is not Ellipsis}
    elif origin is Literal:
        alternatives = {sql_type(type(value)) for value in arguments}
    elif isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        alternatives = {sql_type(type(member.value)) for member in annotation}
    else:
        alternatives = {_SQL_TYPES[annotation]} if annotation in _SQL_TYPES else set()
    if len(alternatives) != 1:
        raise SqlFileError(f"{annotation!r} has no one SQL type; annotate the parameter otherwise")
    return alternatives.pop()
