"""Tickets: short-lived permission for one thing, safe to stand in a URL."""

import binascii
import hmac
import math
import struct
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from hashlib import sha256
from typing import NewType

from pgplane import ledger
from pgplane.edge.database import QueueDatabase
from pgplane.edge.problems import Problem

STREAM_DEADLINES = 3
"""How many stream deadlines a ticket lasts: the stream itself and its reconnects."""

Purpose = NewType("Purpose", int)
"""What a ticket is for, 0 to 255: one for another purpose is worthless."""

STREAM = Purpose(1)
"""To read a job's stream."""

BLOB = Purpose(2)
"""To download a job's blobs."""

MANY = Purpose(3)
"""To read the stream of just these jobs."""

_DOMAIN = b"pgplane ticket 3\0"
_HEAD = struct.Struct(">Q")
_JOB_ID = struct.Struct(">Q")
_KEY_BYTES = 32
_MAC_BYTES = 32
_MAX_LENGTH = 1024


class SharedTickets:
    """The tickets that all edges of a queue database accept from each other.

    Their key is `PLANE_TICKET_KEY`, else the one that the database keeps for them.
    """

    def __init__(self, database: QueueDatabase, key: str | None, stream_seconds: float) -> None:
        self._database = database
        self._seconds = STREAM_DEADLINES * stream_seconds
        self._tickets = Tickets(key.encode(), self._seconds) if key else None

    async def get(self) -> "Tickets":
        """The tickets, their key asked of the database once. Raises LedgerError."""
        if self._tickets is None:
            key = await self._database.call(ledger.ticket_key)
            self._tickets = Tickets(key, self._seconds)
        return self._tickets


class Tickets:
    """Issues and checks tickets under one key; edges that share the key accept each other's.

    A ticket is the base64url text of: expiry (seconds, 8 bytes), scope keys (32 each), and an
    HMAC-SHA256 (32) of all that, its purpose, its queue and its jobs. What it is for does not stand
    in it: whoever checks it says so. Its queue is signed, since tiers of one surface may share a
    database and with it the key.
    """

    def __init__(self, key: bytes, seconds: float, clock: Callable[[], float] = time.time) -> None:
        self._key = key
        self._seconds = seconds
        self._clock = clock

    def issue(
        self, queue: str, jobs: Iterable[int], scope_keys: tuple[str, ...], purpose: Purpose
    ) -> str:
        """A ticket for these jobs of a queue, good for whoever holds these scope keys (hex)."""
        granted = _HEAD.pack(self._expires()) + b"".join(map(bytes.fromhex, scope_keys))
        mac = self._mac(granted, queue, jobs, purpose)
        return urlsafe_b64encode(granted + mac).rstrip(b"=").decode()

    def expiry(self) -> datetime:
        """When a ticket that is issued now will be worthless, or a moment before."""
        return datetime.fromtimestamp(self._expires(), UTC)

    def check(
        self, ticket: str, queue: str, jobs: Iterable[int], purpose: Purpose
    ) -> tuple[str, ...]:
        """The scope keys that a ticket grants; raises Problem 401 unless it is for just this."""
        raw = _decoded(ticket)
        granted, mac = raw[:-_MAC_BYTES], raw[-_MAC_BYTES:]
        expected = self._mac(granted, queue, jobs, purpose)
        if len(granted) < _HEAD.size or not hmac.compare_digest(mac, expected):
            raise _refusal("TICKET_INVALID", "the ticket was not issued here for this")
        (expires,) = _HEAD.unpack_from(granted)
        if self._clock() >= expires:
            raise _refusal("TICKET_EXPIRED", "the ticket has expired; get a new one")
        return tuple(
            granted[start : start + _KEY_BYTES].hex()
            for start in range(_HEAD.size, len(granted), _KEY_BYTES)
        )

    def _expires(self) -> int:
        return math.ceil(self._clock() + self._seconds)

    def _mac(self, granted: bytes, queue: str, jobs: Iterable[int], purpose: Purpose) -> bytes:
        named = b"".join(map(_JOB_ID.pack, sorted(set(jobs))))
        about = sha256(queue.encode() + b"\0" + named).digest()
        return hmac.digest(self._key, _DOMAIN + bytes([purpose]) + about + granted, sha256)


def _decoded(ticket: str) -> bytes:
    """The bytes of a ticket; none where it is no such text."""
    if len(ticket) > _MAX_LENGTH:
        return b""
    try:
        return urlsafe_b64decode(ticket.encode("ascii") + b"=" * (-len(ticket) % 4))
    except (binascii.Error, ValueError):
        return b""


def _refusal(code: str, detail: str) -> Problem:
    return Problem(401, code, detail, {"WWW-Authenticate": 'Bearer realm="pgplane"'})
