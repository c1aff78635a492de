"""Questions: the body of a request, read within a limit and parsed without touching its params."""

import asyncio
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from starlette.requests import Request

from pgplane.edge.problems import Problem
from pgplane.edge.strict import decoder

BODY_SECONDS = 20.0
"""How long a whole body may take: 1 MiB, over a line of half a megabit a second."""

_VERSION = re.compile(r"[1-9][0-9]{0,8}")
_MEMBERS = frozenset({"operation", "params", "version"})


class _Number:
    """A number, unread: params are handed on as they were written, never computed with."""

    def __init__(self, _text: str) -> None:
        pass


_decoder = decoder(_Number, _Number)


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: `params` is the JSON text of an object, exactly as the caller wrote it."""

    operation: str
    params: str
    version: int | None


async def read_body(request: Request, limit: int) -> bytes:
    """A request's body of at most `limit` bytes; raises Problem 408, 413 or 415."""
    media_type = request.headers.get("content-type", "application/json").partition(";")[0].strip()
    if media_type.lower() != "application/json":
        raise Problem(415, "NOT_JSON", "send the question as application/json")
    try:
        async with asyncio.timeout(BODY_SECONDS):
            return await _read(request, limit)
    except TimeoutError:
        raise Problem(
            408,
            "SLOW_BODY",
            f"the body did not arrive within {BODY_SECONDS:g} s",
            {"Connection": "close"},
        ) from None


def parse(body: bytes) -> Question:
    """The question in a JSON text; raises Problem 400 or 422."""
    members: dict[str, tuple[object, str]] = {}
    try:
        for name, value, raw in _members(body.decode("utf-8")):
            if name in members:
                raise Problem(422, "BAD_QUESTION", f"{name} is given twice")
            if name not in _MEMBERS:
                raise Problem(
                    422,
                    "BAD_QUESTION",
                    "a question has operation, params and perhaps version, and nothing else",
                )
            members[name] = value, raw
    except RecursionError:
        raise Problem(422, "BAD_QUESTION", "the JSON is nested too deeply") from None
    except UnicodeDecodeError:
        raise Problem(400, "BAD_JSON", "the body is not UTF-8") from None
    except ValueError as error:
        raise Problem(400, "BAD_JSON", f"the body is not JSON: {error}") from None
    return Question(
        operation=_operation(*members.get("operation", (None, ""))),
        params=_params(*members.get("params", ({}, "{}"))),
        version=_version(*members.get("version", (None, ""))),
    )


def _operation(value: object, _raw: str) -> str:
    if not isinstance(value, str) or not value:
        raise Problem(422, "BAD_QUESTION", "operation must name an operation")
    return value


def _params(value: object, raw: str) -> str:
    if not isinstance(value, dict):
        raise Problem(422, "PARAMS_NOT_OBJECT", "params must be a JSON object")
    return raw


def _version(value: object, raw: str) -> int | None:
    if value is None:
        return None
    if not _VERSION.fullmatch(raw):
        raise Problem(422, "BAD_QUESTION", "version must be a whole number from 1 on")
    return int(raw)


def _members(text: str) -> Iterator[tuple[str, object, str]]:
    """Name, value and raw text of each member of the one object that `text` is."""
    at = _skip(text, 0)
    if text[at : at + 1] != "{":
        _decoder.raw_decode(text, at)
        raise Problem(422, "BAD_QUESTION", "the body must be a JSON object")
    at = _skip(text, at + 1)
    while text[at : at + 1] != "}":
        name, at = _decoder.raw_decode(text, at)
        if not isinstance(name, str):
            raise json.JSONDecodeError("a member's name must be a string", text, at)
        at = _skip(text, _expect(":", text, _skip(text, at)))
        value, end = _decoder.raw_decode(text, at)
        yield name, value, text[at:end]
        at = _skip(text, end)
        if text[at : at + 1] != "}":
            at = _skip(text, _expect(",", text, at))
            if text[at : at + 1] == "}":
                raise json.JSONDecodeError("a member must follow the comma", text, at)
    end = _skip(text, at + 1)
    if end != len(text):
        raise json.JSONDecodeError("something follows the object", text, end)


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\n\r":
        at += 1
    return at


def _expect(character: str, text: str, at: int) -> int:
    if text[at : at + 1] != character:
        raise json.JSONDecodeError(f"expected {character!r}", text, at)
    return at + 1


async def _read(request: Request, limit: int) -> bytes:
    too_large = Problem(413, "TOO_LARGE", f"a question may have {limit} bytes")
    announced = request.headers.get("content-length", "")
    if announced.isdigit() and int(announced) > limit:
        raise too_large
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit:
            raise too_large
    return bytes(body)
