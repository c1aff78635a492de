"""The timing table: the steps of a question, each with its p50, p95 and number of samples."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from flights.demo.asking import Reply


@dataclass(frozen=True)
class Row:
    """One step of the table; samples in seconds."""

    step: str
    samples: Sequence[float]

    def quantile(self, part: float) -> float:
        """The smallest sample that at least `part` of all do not exceed, in seconds."""
        ordered = sorted(self.samples)
        return ordered[max(0, math.ceil(part * len(ordered)) - 1)]


@dataclass(frozen=True)
class Series:
    """The replies that were timed.

    Attributes:
        light: drill-downs, one after another, each by an idle worker.
        heavy: aggregations, one after another.
        cached: questions that the worker answered from its cache.
        starts: job id → seconds from its creation (the queue database's clock) to its handler's
            start (this machine's clock).
        skew: the queue database's clock minus ours, in seconds.
    """

    light: Sequence[Reply]
    heavy: Sequence[Reply]
    cached: Sequence[Reply]
    starts: dict[str, float]
    skew: float


def table(series: Series) -> list[Row]:
    """The rows, in the order in which a question passes the steps; none without samples."""
    light, skew = series.light, series.skew
    rows = [
        Row("Enqueue → 202", [reply.accepted - reply.sent for reply in light]),
        Row("Queue wait (enqueue → handler start)", list(queue_waits(light, series.starts, skew))),
        Row("Execution (claim → done), drill-down", _executions(light)),
        Row("Execution (claim → done), aggregation", _executions(series.heavy)),
        Row("Notify → SSE event", [r.answered + skew - r.times["finished"] for r in light]),
        Row("End to end, drill-down", [reply.seconds for reply in light]),
        Row("End to end, aggregation", [reply.seconds for reply in series.heavy]),
        Row("End to end, cache hit", [reply.seconds for reply in series.cached]),
    ]
    return [row for row in rows if row.samples]


def queue_waits(replies: Iterable[Reply], starts: dict[str, float], skew: float) -> Iterable[float]:
    """Seconds from each job's creation to its handler's start, where that is known."""
    for reply in replies:
        if reply.job_id in starts:
            yield starts[reply.job_id] + skew


def rendered(rows: Sequence[Row]) -> list[str]:
    """The table as lines of text; times in milliseconds."""
    width = max(len(row.step) for row in rows)
    lines = [
        f"  {'Step':<{width}}  {'p50':>9}  {'p95':>9}  {'n':>4}",
        f"  {'─' * width}  {'─' * 9}  {'─' * 9}  {'─' * 4}",
    ]
    for row in rows:
        p50, p95 = (f"{row.quantile(part) * 1000:.1f} ms" for part in (0.5, 0.95))
        lines.append(f"  {row.step:<{width}}  {p50:>9}  {p95:>9}  {len(row.samples):>4}")
    return lines


def _executions(replies: Iterable[Reply]) -> list[float]:
    return [reply.times["finished"] - reply.times["claimed"] for reply in replies]
