"""Logs: JSON lines on stderr, one event with a stable name each.

Names are `<noun>.<what happened>`: `worker.started`, `job.finished`, `listener.lost`. They are an
interface: alerts and dashboards match them.
"""

import sys
from contextlib import suppress
from typing import Any

import structlog


class _Lines:
    """Writes whole lines to stderr. One that nobody takes is lost: a log must never stop work."""

    def msg(self, line: str) -> None:
        with suppress(OSError, ValueError):
            sys.stderr.write(line + "\n")
            sys.stderr.flush()

    debug = info = warning = error = critical = msg


def configure(level: str = "info") -> None:
    """Set up structlog for this process; `level`: debug, info, warning or error."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(default=str),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=lambda *_: _Lines(),
        cache_logger_on_first_use=True,
    )


def get(name: str) -> Any:
    """A logger whose events carry `component=name`."""
    return structlog.get_logger(component=name)
