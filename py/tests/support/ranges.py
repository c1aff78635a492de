"""Steps of upkeep: ranges of job ids that are opened, wear out and go."""

import re
from typing import Any

from .sessions import Session, Stage

DAY = 86_400
WIDTH = 10_000_000_000
"""Ids that a range has room for."""

MAINTAIN = "select step, subject from plane.maintain()"


def maintain(session: Session) -> str | None:
    """One call: what it did, or why not; None when nothing was to be done."""
    rows = session.run(MAINTAIN)
    assert len(rows) < 2
    return f"{rows[0][0]} {rows[0][1]}" if rows else None


def until_quiet(session: Session) -> list[str]:
    """Calls until nothing is left to do; what they did, a word each."""
    done = []
    while (step := maintain(session)) is not None:
        assert not step.startswith("left"), step
        done.append(step.partition(" ")[0])
    return done


def ranges(stage: Stage) -> list[tuple[int, int | None]]:
    """From which id to below which each range goes."""
    return [
        (lower, upper) for lower, upper in stage.look("select lower, upper from plane._ranges()")
    ]


def jobs_by_range(stage: Stage) -> dict[str, int]:
    """How many rows each partition of plane.job has."""
    return dict(
        stage.look("select tableoid::regclass::text, count(*)::int from plane.job group by 1")
    )


def tables(stage: Stage) -> list[str]:
    """The partitions of jobs and copies of what stays, sorted."""
    rows: list[Any] = stage.look(
        "select relname::text from pg_class where relnamespace = 'plane'::regnamespace"
        r" and relkind = 'r' and relname ~ '^(job|outcome|attempt)_\d+$'"
    )
    return sorted((name for (name,) in rows), key=lambda name: re.split("_", name))
