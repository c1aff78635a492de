"""Tickets: short-lived permission for one thing, safe to stand in a URL."""

import binascii
import hmac
import math
import struct
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from datetime import UTC, datetime
from hashlib import sha256
from typing import NewType

from pgplane import ledger
from pgplane.edge.database import QueueDatabase
from pgplane.edge.problems import Problem

STREAMS = 3
"""How many stream deadlines a ticket lasts: the stream itself and its reconnects."""

Purpose = NewType("Purpose", int)
"""What a ticket is for, 0 to 255: one for another purpose is worthless."""

STREAM = Purpose(1)
"""To read a job's stream."""

BLOB = Purpose(2)
"""To download a job's blobs."""

MANY = Purpose(3)
"""To read the stream of many jobs, those of one caller: its ticket is for job 0, no one job."""

_DOMAIN = b"pgplane ticket 2\0"
_HEAD = struct.Struct(">QqB")
_KEY_BYTES = 32
_MAC_BYTES = 32
_MAX_LENGTH = 1024


class SharedTickets:
    """The tickets that all edges of a queue database accept from each other.

    Their key is `PLANE_TICKET_KEY`, else the one that the database keeps for them.
    """

    def __init__(self, database: QueueDatabase, key: str | None, stream_seconds: float) -> None:
        self._database = database
        self._seconds = STREAMS * stream_seconds
        self._tickets = Tickets(key.encode(), self._seconds) if key else None

    async def get(self) -> "Tickets":
        """The tickets, their key asked of the database once. Raises LedgerError."""
        if self._tickets is None:
            key = await self._database.call(ledger.ticket_key)
            self._tickets = Tickets(key, self._seconds)
        return self._tickets


class Tickets:
    """Issues and checks tickets under one key; edges that share the key accept each other's.

    A ticket is the base64url text of: expiry (seconds, 8 bytes), job id (8), number of scope keys
    (1), scope keys (32 each), queue (UTF-8), and the HMAC-SHA256 of its purpose (1) and all that
    (32). It names the queue, since tiers of one surface may share a database and with it the key.
    """

    def __init__(self, key: bytes, seconds: float, clock: Callable[[], float] = time.time) -> None:
        self._key = key
        self._seconds = seconds
        self._clock = clock

    def issue(
        self, queue: str, job_id: int, scope_keys: tuple[str, ...], purpose: Purpose = STREAM
    ) -> str:
        """A ticket for one job of one queue, good for whoever holds these scope keys (hex)."""
        payload = b"".join(
            (
                _HEAD.pack(self._expires(), job_id, len(scope_keys)),
                *map(bytes.fromhex, scope_keys),
                queue.encode(),
            )
        )
        return urlsafe_b64encode(payload + self._mac(payload, purpose)).rstrip(b"=").decode()

    def expiry(self) -> datetime:
        """When a ticket that is issued now will be worthless, or a moment before."""
        return datetime.fromtimestamp(self._expires(), UTC)

    def check(
        self, ticket: str, queue: str, job_id: int, purpose: Purpose = STREAM
    ) -> tuple[str, ...]:
        """The scope keys that a ticket grants; raises Problem 401 unless it is for just this."""
        payload = self._authentic(ticket, purpose)
        expires, ticket_job, count = _HEAD.unpack_from(payload)
        keys_end = _HEAD.size + count * _KEY_BYTES
        if ticket_job != job_id or payload[keys_end:] != queue.encode():
            raise _refusal("TICKET_INVALID", "the ticket is for another job")
        if self._clock() >= expires:
            raise _refusal("TICKET_EXPIRED", "the ticket has expired; get a new one")
        return tuple(
            payload[start : start + _KEY_BYTES].hex()
            for start in range(_HEAD.size, keys_end, _KEY_BYTES)
        )

    def _expires(self) -> int:
        return math.ceil(self._clock() + self._seconds)

    def _authentic(self, ticket: str, purpose: Purpose) -> bytes:
        raw = b""
        if len(ticket) <= _MAX_LENGTH:
            try:
                raw = urlsafe_b64decode(ticket.encode("ascii") + b"=" * (-len(ticket) % 4))
            except (binascii.Error, ValueError):
                raw = b""
        payload, mac = raw[:-_MAC_BYTES], raw[-_MAC_BYTES:]
        expected = self._mac(payload, purpose)
        if len(payload) < _HEAD.size or not hmac.compare_digest(mac, expected):
            raise _refusal("TICKET_INVALID", "the ticket was not issued here for this")
        return payload

    def _mac(self, payload: bytes, purpose: Purpose) -> bytes:
        return hmac.digest(self._key, _DOMAIN + bytes([purpose]) + payload, sha256)


def _refusal(code: str, detail: str) -> Problem:
    return Problem(401, code, detail, {"WWW-Authenticate": 'Bearer realm="pgplane"'})
