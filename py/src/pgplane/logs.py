"""Logs: JSON lines on stderr, one event with a stable name each.

Names are `<noun>.<what happened>`: `worker.started`, `job.finished`, `listener.lost`. They are an
interface: alerts and dashboards match them.
"""

import logging
import re
import sys
from collections.abc import MutableMapping
from contextlib import suppress
from typing import Any

import structlog

_CREDENTIALS = (
    (re.compile(r"://\S{1,300}@"), "://***@"),
    (re.compile(r"(?i)\b(bearer )\s*[^\s\"']+"), r"\1***"),
    (
        re.compile(
            r"(?i)\b((?:password|passwd|secret|token|ticket|api_?key)[\"']?"
            r"[ \t]{0,9}[=:][ \t]{0,9})(?:'[^'\n]*'|\"[^\"\n]*\"|[^\s\"']+)"
        ),
        r"\1***",
    ),
)


def mask(text: str) -> str:
    """The text without what looks like a credential: in a URL, a header, after `password=`."""
    for pattern, masked in _CREDENTIALS:
        text = pattern.sub(masked, text)
    return text


class _Lines:
    """Writes whole lines to stderr. One that nobody takes is lost: a log must never stop work."""

    def msg(self, line: str) -> None:
        with suppress(OSError, ValueError):
            sys.stderr.write(line + "\n")
            sys.stderr.flush()

    debug = info = warning = error = critical = msg


class _Libraries(logging.Handler):
    """What libraries warn of (psycopg's pool, uvicorn, asyncio), as lines like ours."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)

    def emit(self, record: logging.LogRecord) -> None:
        log = get(record.name)
        write = log.error if record.levelno >= logging.ERROR else log.warning
        try:
            write("library.said", message=record.getMessage(), exc_info=record.exc_info)
        except Exception:
            self.handleError(record)


def _mask_values(_log: Any, _method: str, event: MutableMapping[str, Any]) -> dict[str, Any]:
    return {key: mask(value) if isinstance(value, str) else value for key, value in event.items()}


def configure(level: str = "info") -> None:
    """Set up logging for this process; `level`: debug, info, warning or error."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            _mask_values,
            structlog.processors.JSONRenderer(default=str),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=lambda *_: _Lines(),
        cache_logger_on_first_use=True,
    )
    root = logging.getLogger()
    root.handlers = [h for h in root.handlers if not isinstance(h, _Libraries)] + [_Libraries()]


def get(name: str) -> Any:
    """A logger whose events carry `component=name`."""
    return structlog.get_logger(component=name)
