"""Settings: every `PLANE_*` environment variable, typed and with its default."""

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

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
        env_prefix="PLANE_", env_ignore_empty=True, extra="ignore", frozen=True
    )

    queue_url: str | None = _secret()
    """DSN of the queue database."""
    listen_url: str | None = _secret()
    """DSN for LISTEN, where `queue_url` leads through a transaction-mode pooler."""
    queue: str | None = None
    """The queue that this worker drains."""
    client_url: str | None = _secret()
    """DSN of the read-only client database that operations query."""
    facts_url: str | None = _secret()
    """DSN of the facts database that data jobs write."""

    jwt_jwks_url: str | None = None
    jwt_key: str | None = _secret()
    """Public key (PEM), or the shared secret where an HS algorithm is named."""
    jwt_algorithms: Annotated[tuple[str, ...], NoDecode] = ("RS256", "ES256", "EdDSA")
    """Comma-separated in the environment."""
    jwt_audience: str | None = None
    jwt_issuer: str | None = None
    jwt_client_claim: str = "client"
    jwt_actor_claim: str = "email"
    jwt_staff_claim: str = "staff"
    jwt_scope_claim: str = "branches"
    jwt_surfaces_claim: str = "surfaces"
    jwt_operator_claim: str | None = None
    ticket_key: str | None = _secret()

    surfaces_tier: str = ""
    """Suffix of every surface's queue: '' or, say, '-dev'."""
    stream_seconds: Seconds = 60.0
    """How long one stream waits for its job."""
    sweep_seconds: Seconds = 5.0
    idle_ms: Annotated[int, Field(ge=1, le=2000)] = 100
    """First pause of an idle worker; each further one doubles, up to two seconds."""
    concurrency: Annotated[int, Field(ge=1, le=256)] = 4
    """Jobs that one worker runs at a time."""
    grace_seconds: Annotated[float, Field(ge=0)] = 20.0
    """How long a stopping process lets running work finish."""
    reap_seconds: Seconds = 3600.0
    cache_entries: Annotated[int, Field(ge=0)] = 500
    pool_size: Annotated[int, Field(ge=1)] = 4
    """Connections of the edge's pool."""
    body_bytes: Annotated[int, Field(ge=1024)] = 1024 * 1024
    """Largest body of a request: params may have 256 KiB, their escapes in JSON more."""
    heartbeat_seconds: Seconds = 15.0
    """How often an open stream is sent a comment, so that no proxy takes it for dead."""

    redis_url: str | None = _secret()
    telemetry_url: str | None = _secret()
    log_level: Literal["debug", "info", "warning", "error"] = "info"

    @field_validator("jwt_algorithms", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        return value

    @property
    def listen_dsn(self) -> str | None:
        """Where to LISTEN: `listen_url`, else the queue database itself."""
        return self.listen_url or self.queue_url
