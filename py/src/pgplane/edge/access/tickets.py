"""Tickets: short-lived permission to read one job's stream, safe to stand in a URL."""

import binascii
import hmac
import math
import struct
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from hashlib import sha256

from pgplane import ledger
from pgplane.edge.database import QueueDatabase
from pgplane.edge.problems import Problem

STREAMS = 3
"""How many stream deadlines a ticket lasts: the stream itself and its reconnects."""

_DOMAIN = b"pgplane stream ticket 1\0"
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
    (1), scope keys (32 each), surface (UTF-8), and the HMAC-SHA256 of all that (32).
    """

    def __init__(self, key: bytes, seconds: float, clock: Callable[[], float] = time.time) -> None:
        self._key = key
        self._seconds = seconds
        self._clock = clock

    def issue(self, surface: str, job_id: int, scope_keys: tuple[str, ...]) -> str:
        """A ticket for one job of one surface, good for whoever holds these scope keys (hex)."""
        expires = math.ceil(self._clock() + self._seconds)
        payload = b"".join(
            (
                _HEAD.pack(expires, job_id, len(scope_keys)),
                *map(bytes.fromhex, scope_keys),
                surface.encode(),
            )
        )
        return urlsafe_b64encode(payload + self._mac(payload)).rstrip(b"=").decode()

    def check(self, ticket: str, surface: str, job_id: int) -> tuple[str, ...]:
        """The scope keys that a ticket grants; raises Problem 401 unless it is for this job."""
        payload = self._authentic(ticket)
        expires, ticket_job, count = _HEAD.unpack_from(payload)
        keys_end = _HEAD.size + count * _KEY_BYTES
        if ticket_job != job_id or payload[keys_end:] != surface.encode():
            raise _refusal("TICKET_INVALID", "the ticket is for another stream")
        if self._clock() >= expires:
            raise _refusal("TICKET_EXPIRED", "the ticket has expired; ask the question again")
        return tuple(
            payload[start : start + _KEY_BYTES].hex()
            for start in range(_HEAD.size, keys_end, _KEY_BYTES)
        )

    def _authentic(self, ticket: str) -> bytes:
        raw = b""
        if len(ticket) <= _MAX_LENGTH:
            try:
                raw = urlsafe_b64decode(ticket.encode("ascii") + b"=" * (-len(ticket) % 4))
            except (binascii.Error, ValueError):
                raw = b""
        payload, mac = raw[:-_MAC_BYTES], raw[-_MAC_BYTES:]
        if len(payload) < _HEAD.size or not hmac.compare_digest(mac, self._mac(payload)):
            raise _refusal("TICKET_INVALID", "the ticket was not issued here")
        return payload

    def _mac(self, payload: bytes) -> bytes:
        return hmac.digest(self._key, _DOMAIN + payload, sha256)


def _refusal(code: str, detail: str) -> Problem:
    return Problem(401, code, detail, {"WWW-Authenticate": 'Bearer realm="pgplane"'})
