"""Logs: JSON lines on stderr, one event with a stable name each.

Names are `<noun>.<what happened>`: `worker.started`, `job.finished`, `listener.lost`. They are an
interface: alerts and dashboards match them.
"""

import sys
from typing import Any

import structlog


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
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )


def get(name: str) -> Any:
    """A logger whose events carry `component=name`."""
    return structlog.get_logger(component=name)
