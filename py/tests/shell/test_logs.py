"""Logs: every line is JSON, whoever wrote it, and none holds a credential."""

import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from pgplane import logs


@pytest.fixture(autouse=True)
def _configured() -> Iterator[None]:
    root = logging.getLogger()
    before = root.handlers[:]
    structlog.reset_defaults()
    logs.configure()
    yield
    root.handlers = before
    structlog.reset_defaults()


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, str]]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_what_a_library_logs_is_a_line_like_ours(capsys: pytest.CaptureFixture[str]) -> None:
    logging.getLogger("psycopg.pool").warning("discarding closed connection: %s", "BAD")
    logging.getLogger("uvicorn.error").info("started")
    (line,) = lines(capsys)
    assert line.pop("timestamp")
    assert line == {
        "component": "psycopg.pool",
        "event": "library.said",
        "level": "warning",
        "message": "discarding closed connection: BAD",
    }


def test_configured_twice_it_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure()
    logging.getLogger("asyncio").error("lost", exc_info=ValueError("why"))
    (line,) = lines(capsys)
    assert line["level"] == "error"
    assert "ValueError: why" in line["exception"]


def test_no_line_holds_a_credential(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        raise RuntimeError("cannot reach postgresql://ada:hunter2@db/x with password=hunter2")
    except RuntimeError:
        logs.get("test").exception("job.failed", said="token: hunter2", where={"api_key": 1})
    (line,) = lines(capsys)
    assert "hunter2" not in json.dumps(line)
    assert "RuntimeError: cannot reach postgresql://***@db/x" in line["exception"]


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("postgresql://ada:hun@ter/2@db/x", "postgresql://***@db/x"),
        ("password = 'hunter2'", "password = ***"),
        ('{"api_key": "hunter2"}', '{"api_key": ***}'),
        ("Authorization: Bearer hunter2", "Authorization: Bearer ***"),
        ("/api/x/q/1/stream?ticket=hunter2&x=1", "/api/x/q/1/stream?ticket=***"),
        ("https://example.com/a and b@c", "https://example.com/a and b@c"),
        ("the token has expired", "the token has expired"),
    ],
)
def test_a_credential_is_masked_wherever_it_stands(text: str, masked: str) -> None:
    assert logs.mask(text) == masked


def test_a_long_text_is_masked_at_once() -> None:
    text = "://" * 100_000 + "password" * 30_000
    assert logs.mask(text) == text
