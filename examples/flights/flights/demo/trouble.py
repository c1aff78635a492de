"""What stops the demo, in words that help."""

from __future__ import annotations

from pathlib import Path


class DemoError(Exception):
    """Something a person has to put right; the message says what was wrong and what to do."""


def tail(log: Path, lines: int = 15) -> str:
    """The last lines of a log file, indented; a missing or empty log says so."""
    try:
        text = log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:]
    except OSError as error:
        return f"    (no log: {error.strerror})"
    return "\n".join(f"    {line}" for line in text) or "    (the log is empty)"
