"""Records: what the ledger's functions return, column by column. JSON is raw text, unparsed."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple


class Submitted(NamedTuple):
    """What an enqueue did: the job, and whether it already was there."""

    job_id: int
    coalesced: bool


@dataclass(frozen=True, slots=True)
class Claim:
    """One attempt at one job, held until `lease_expires_at`."""

    job_id: int
    attempt: int
    queue: str
    operation: str
    version: int | None
    params: bytes
    envelope: bytes
    dedupe_key: str | None
    serial_key: str | None
    max_dequeues: int
    lease_expires_at: datetime
    created_at: datetime
    cache_key: str | None
    fresh: bool


@dataclass(frozen=True, slots=True)
class Job:
    """A job as a caller of its scope may see it."""

    job_id: int
    scope_key: str
    status: str
    progress: bytes | None
    result: bytes | None
    error: bytes | None
    cache: str | None
    position: int | None
    created_at: datetime
    claimed_at: datetime | None
    finished_at: datetime | None
    left_out: bool = False
    """Whether result or error is None only since there was no room for it."""


class Seen(NamedTuple):
    """A job that is there for this scope key."""

    job_id: int
    scope_key: str


class ManifestEntry(NamedTuple):
    """One version of an operation, as its surface's manifest has it; `params_schema` is raw."""

    name: str
    version: int
    params_schema: bytes
    ttl_seconds: int
    timeout_seconds: int
    per_actor: bool


class BlobInfo(NamedTuple):
    """What the headers of a download say: `size` in bytes, `etag` a strong validator, unquoted."""

    content_type: str
    filename: str | None
    size: int
    etag: str
    created_at: datetime
    expires_at: datetime


class Renewal(NamedTuple):
    """What a heartbeat learnt of one job: `held`, `lost` or `cancelling`, and for how long."""

    job_id: int
    state: str
    lease: timedelta | None


class Step(NamedTuple):
    """What upkeep did (`opened`, `copied`, `removed`, `forgot`), or `left` for now, and to what."""

    step: str
    subject: str
