"""Settings: every `PLANE_*` environment variable, typed and with its default."""

import re
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict
from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from pgplane.names import TIER

Seconds = Annotated[float, Field(gt=0)]


def _secret() -> Any:
    """A value that may hold a credential: it never shows in a repr or a log line."""
    return Field(default=None, repr=False)


class Settings(BaseSettings):
    """What a process of pgplane is told by its environment.

    Each field `name` is read from `PLANE_NAME`; an empty variable counts as unset. A process checks
    for itself what it cannot live without: nothing here is required.
    """

    model_config = SettingsConfigDict(
        env_prefix="PLANE_",
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        hide_input_in_errors=True,
    )

    queue_url: str | None = _secret()
    """DSN of the queue database."""
    listen_url: str | None = _secret()
    """DSN for LISTEN, where `queue_url` leads through a transaction-mode pooler."""
    queue: str | None = None
    """The queue that this worker drains."""
    client_url: str | None = _secret()
    """DSN of the read-only client database that operations query."""

    jwt_jwks_url: str | None = None
    """Where the issuer publishes its public keys: https, or http on loopback."""
    jwt_key: str | None = _secret()
    """In place of that: the public key (PEM), or the shared secret of an HS algorithm."""
    jwt_algorithms: Annotated[tuple[str, ...], NoDecode] = ("RS256", "ES256", "EdDSA")
    """The algorithms that are accepted, comma-separated in the environment."""
    jwt_audience: str | None = None
    """What a token's `aud` must hold; None: it must name no audience."""
    jwt_issuer: str | None = None
    """What a token's `iss` must be; None: it is not looked at."""
    jwt_client_claim: str = "client"
    """The claim that names the client, and so on for the other four."""
    jwt_actor_claim: str = "email"
    jwt_staff_claim: str = "staff"
    jwt_scope_claim: str = "branches"
    jwt_surfaces_claim: str = "surfaces"
    ticket_key: str | None = _secret()
    """Signs tickets; None: a key that the queue database keeps for all its edges."""

    surfaces_tier: Annotated[str, Field(pattern=f"^({TIER})?$")] = ""
    """Suffix of every surface's queue: '' or, say, '-dev'."""
    stream_seconds: Annotated[float, Field(gt=0, le=86_400)] = 60.0
    """How long one stream waits for its job: a day at most."""
    sweep_seconds: Seconds = 5.0
    """How often an edge reads all that it waits for, and a worker sweeps the queues."""
    reap_seconds: Seconds = 3600.0
    """How long a worker pauses, at least, between removing bytes of blobs."""
    idle_ms: Annotated[int, Field(ge=1, le=2000)] = 100
    """First pause of an idle worker; each further one doubles, up to two seconds."""
    concurrency: Annotated[int, Field(ge=1, le=256)] = 4
    """Jobs that one worker runs at a time."""
    grace_seconds: Annotated[float, Field(ge=0)] = 20.0
    """How long a stopping process lets running work finish."""
    cache_entries: Annotated[int, Field(ge=0)] = 500
    """Answers that a worker keeps, the oldest out first; 0 keeps none."""
    cache_bytes: Annotated[int, Field(ge=0)] = 64 * 1024 * 1024
    """Bytes that those answers may have together."""
    telemetry_url: str | None = _secret()
    """Where a worker POSTs what each job took: http or https; None: nowhere."""
    pool_size: Annotated[int, Field(ge=1)] = 4
    """Connections of the edge's pool."""
    max_streams: Annotated[int, Field(ge=1)] = 5000
    """Streams that an edge holds open, and questions that wait for their answer."""
    streams_per_caller: Annotated[int, Field(ge=1)] = 100
    """How many of those one person may have."""
    max_waits: Annotated[int, Field(ge=1)] = 10_000
    """Jobs that those wait for: a stream of many jobs for each of its own."""
    waits_per_caller: Annotated[int, Field(ge=1)] = 500
    """Jobs that one person's may wait for."""
    max_downloads: Annotated[int, Field(ge=1)] = 100
    """Downloads under way at an edge, a tenth of them one person's."""
    body_bytes: Annotated[int, Field(ge=1024)] = 1024 * 1024
    """Largest body of a request: params may have 256 KiB, their escapes in JSON more."""
    stream_heartbeat_seconds: Seconds = 15.0
    """How often an open stream is sent a comment, so that no proxy takes it for dead."""

    log_level: Literal["debug", "info", "warning", "error"] = "info"

    @field_validator("jwt_algorithms", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        return value

    @field_validator("queue_url", "listen_url", "client_url")
    @classmethod
    def _readable(cls, value: str | None) -> str | None:
        """Refuse what libpq would read otherwise than meant: its messages quote pieces of it."""
        try:
            at = {key: str(part) for key, part in conninfo_to_dict(value or "").items()}
            good = "@" not in at.get("host", "")[1:] and re.fullmatch(r"[\d,]*", at.get("port", ""))
        except ProgrammingError:
            good = None
        if not good:
            raise ValueError(
                "this is no connection string; in a URL, a password's special characters are"
                " percent-encoded (%40 for @)"
            )
        return value

    @field_validator("telemetry_url")
    @classmethod
    def _reachable(cls, value: str | None) -> str | None:
        parts = urlsplit(value or "http://unset")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("this is no http:// or https:// URL")
        return value

    @property
    def listen_dsn(self) -> str | None:
        """Where to LISTEN: `listen_url`, else the queue database itself."""
        return self.listen_url or self.queue_url
