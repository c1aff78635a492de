"""Settings: read from PLANE_*, with defaults, and no credential in what is printed."""

import re

import pytest
from pydantic import ValidationError

from pgplane.settings import Settings

from ..support.postgres import ROOT


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(f"PLANE_{name.upper()}", raising=False)


def test_everything_has_a_default() -> None:
    settings = Settings()
    assert settings.queue_url is None
    assert (settings.idle_ms, settings.concurrency, settings.cache_entries) == (100, 4, 500)
    assert (settings.stream_seconds, settings.sweep_seconds, settings.grace_seconds) == (60, 5, 20)
    assert settings.reap_seconds == 3600
    assert (settings.cache_bytes, settings.telemetry_url) == (64 * 2**20, None)
    assert settings.jwt_algorithms == ("RS256", "ES256", "EdDSA")


def test_running_describes_exactly_these() -> None:
    described = re.findall(
        r"^\| `PLANE_(\w+)`", (ROOT / "docs/running.md").read_text(), re.MULTILINE
    )
    assert sorted(described) == sorted(name.upper() for name in Settings.model_fields)


def test_the_environment_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANE_QUEUE_URL", "postgresql://w:hunter2@db/queue")
    monkeypatch.setenv("PLANE_JWT_ALGORITHMS", "ES256, EdDSA,")
    monkeypatch.setenv("PLANE_TELEMETRY_URL", "https://example.com/job-finished?key=hunter2")
    monkeypatch.setenv("PLANE_CONCURRENCY", "8")
    monkeypatch.setenv("PLANE_QUEUE", "")
    settings = Settings()
    assert settings.jwt_algorithms == ("ES256", "EdDSA")
    assert settings.concurrency == 8
    assert settings.telemetry_url == "https://example.com/job-finished?key=hunter2"
    assert settings.queue is None, "an empty variable is an unset one"
    assert "hunter2" not in repr(settings)


def test_listening_goes_to_the_queue_database_unless_told_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PLANE_QUEUE_URL", "postgresql://pooler/queue")
    assert Settings().listen_dsn == "postgresql://pooler/queue"
    monkeypatch.setenv("PLANE_LISTEN_URL", "postgresql://direct/queue")
    assert Settings().listen_dsn == "postgresql://direct/queue"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("IDLE_MS", "0"),
        ("CONCURRENCY", "none"),
        ("STREAM_SECONDS", "-1"),
        ("STREAM_SECONDS", "86401"),
        ("CACHE_ENTRIES", "-1"),
        ("CACHE_BYTES", "-1"),
        ("TELEMETRY_URL", "example.com/hunter2"),
        ("TELEMETRY_URL", "ftp://example.com/hunter2"),
        ("TELEMETRY_URL", "https:///hunter2"),
        ("LOG_LEVEL", "loud"),
        ("SURFACES_TIER", "dev"),
        ("QUEUE_URL", "postgresql://ada:hunter2%zz@db/queue"),
        ("LISTEN_URL", "postgresql://ada:hunter2/x@db/queue"),
        ("CLIENT_URL", "postgresql://ada:x@hunter2@db/queue"),
        ("QUEUE_URL", "host=db password=x hunter2"),
        ("QUEUE_URL", "postgres//ada:hunter2@db/queue"),
    ],
)
def test_nonsense_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(f"PLANE_{name}", value)
    with pytest.raises(ValidationError, match=name.lower()) as refused:
        Settings()
    assert "hunter2" not in str(refused.value), "nothing of what may be a password is repeated"
