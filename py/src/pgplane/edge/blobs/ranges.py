"""Ranges: which bytes of a download a request asks for (RFC 9110, sections 13 and 14)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_BYTES = re.compile(r"[ \t]*bytes[ \t]*=(.*)", re.IGNORECASE)
_SPEC = re.compile(r"([0-9]*)-([0-9]*)")
_ETAG = re.compile(r'(?:W/)?("[\x21\x23-\x7e\x80-\xff]*")')
_DIGITS = 18
"""A position of more digits lies behind every end."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to answer: 200, 206, 304 or 416, with the bytes from `start` to before `end`."""

    status: int
    start: int
    end: int


def wanted(headers: Mapping[str, str], method: str, size: int, etag: str) -> Wanted:
    """What a GET or HEAD with these headers wants of `size` bytes whose strong validator is `etag`
    (as it stands in the header, quotes included).

    One range is served. Several are not refused but answered with the whole, as is what cannot be
    read, or is meant for bytes that are no more.
    """
    if _is_known(headers.get("if-none-match"), etag):
        return Wanted(304, 0, 0)
    whole = Wanted(200, 0, size)
    if method != "GET" or headers.get("if-range", etag).strip() != etag:
        return whole
    spec = _single(headers.get("range", ""))
    if spec is None:
        return whole
    first, last = spec
    if first is None:
        if last == 0:
            return Wanted(416, 0, 0)
        return Wanted(206, max(size - (last or 0), 0), size) if size else whole
    if first >= size:
        return Wanted(416, 0, 0)
    return Wanted(206, first, size if last is None else min(last + 1, size))


def _is_known(header: str | None, etag: str) -> bool:
    """Whether `If-None-Match` names the validator; it is compared weakly."""
    return header is not None and (header.strip() == "*" or etag in _ETAG.findall(header))


def _single(header: str) -> tuple[int | None, int | None] | None:
    """First and last position of the only range asked for; None: none, several, or nonsense."""
    unit = _BYTES.fullmatch(header)
    specs = [spec for part in unit[1].split(",") if (spec := part.strip(" \t"))] if unit else []
    match = _SPEC.fullmatch(specs[0]) if len(specs) == 1 else None
    if match is None or match[0] == "-":
        return None
    first, last = map(_position, match.groups())
    if first is not None and last is not None and last < first:
        return None
    return first, last


def _position(digits: str) -> int | None:
    if not digits:
        return None
    digits = digits.lstrip("0") or "0"
    return int(digits) if len(digits) <= _DIGITS else 10**_DIGITS
