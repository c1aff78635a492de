"""The page that tells what was measured: ratios first, absolutes after; and the same as JSON."""

import json
from dataclasses import dataclass, field

from bench import floor
from bench.horizon import SLICE, Slice
from bench.requests import STEPS
from bench.samples import Opened, Pinned, Requested, Taken, sums
from bench.streams import FIGURES as STREAM_FIGURES
from bench.streams import versions

FIGURES = {
    "rate": ("Jobs a second", ",.0f"),
    "wal": ("Write-ahead log, bytes a job", ",.0f"),
    "cpu": ("CPU of the server, µs a job", ",.0f"),
    "p50": ("Wake-up, median, ms", ",.2f"),
    "p95": ("Wake-up, 95th percentile, ms", ",.2f"),
}

PUBLISHED = {
    "accepted": "milliseconds",
    "wait": "avg 500 – 1,400",
    "run": "avg 80 – 600, max 1,200",
    "told": "milliseconds",
    "stored": "1,000 – 2,000 typical",
}
"""What such a plane is known to take whose worker polls."""


@dataclass
class Report:
    """All that one run of the bench found."""

    facts: dict[str, str]
    taken: list[Taken] = field(default_factory=list)
    pinned: list[Pinned] = field(default_factory=list)
    requested: list[Requested] = field(default_factory=list)
    opened: Opened | None = None

    @property
    def title(self) -> str:
        """What the page tells."""
        if self.taken or self.pinned:
            return "What the ledger costs"
        return "How long a question takes" if self.requested else "What an open stream costs"

    @property
    def drawn(self) -> bool:
        """Whether there is anything for a picture."""
        return bool(self.taken or self.pinned or self.requested)

    def markdown(self, plot: str) -> str:
        """The page; `plot` is the file of its picture."""
        modes = [one for one in self.taken if one.measure.part == "notify"]
        beside = [one for one in self.taken if one.measure.part != "notify"]
        beside += sums(beside)
        picture = f" · [the same as a picture]({plot})" if self.drawn else ""
        parts = [
            f"# {self.title}\n",
            "".join(f"- **{name}**: {value}\n" for name, value in self.facts.items()),
            f"[How it was measured](../README.md){picture}\n",
        ]
        if beside:
            parts += ["## Ratios to the floor, each within its round\n", *_figures(beside, True)]
        if modes:
            parts += ["## Ratios to a queue with notify never\n", *_figures(modes, True)]
        if self.pinned:
            parts += [
                f"## While an open transaction pins the horizon, by slices of {SLICE} s\n",
                _horizon(self.pinned),
            ]
        if beside or modes:
            parts += ["## Absolutes\n", *_figures(beside, False), *_figures(modes, False)]
        if self.requested:
            parts += [
                "## How long a question takes, by questions a second\n",
                *_asked(self.requested),
            ]
        if self.opened:
            parts += [
                f"## {self.opened.count:,} open streams, by the class of the response\n",
                _streams(self.opened),
                f"With {versions()}.\n",
            ]
        if self.taken or self.pinned:
            parts += ["## The floor's SQL\n", f"```sql\n{floor.SQL}\n```\n"]
        return "\n".join(parts)

    def raw(self) -> str:
        """Every sample, as JSON."""
        measures = [
            {
                "part": one.measure.part,
                "name": one.measure.name,
                "clients": one.measure.clients,
                "samples": one.samples,
            }
            for one in self.taken
        ]
        pinned = [
            {"variant": one.variant, "runs": [[s._asdict() for s in run] for run in one.runs]}
            for one in self.pinned
        ]
        streams = self.opened and {"count": self.opened.count, "samples": self.opened.samples}
        requests = {one.rate: one.samples for one in self.requested}
        whole = {
            "facts": self.facts,
            "measures": measures,
            "pinned": pinned,
            "requests": requests,
            "streams": streams,
        }
        return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _figures(taken: list[Taken], ratios: bool) -> list[str]:
    """One table for each figure."""
    queues = list(dict.fromkeys(queue for one in taken for queue in one.samples))
    found = []
    for figure, (title, digits) in FIGURES.items():
        rows = [
            [
                one.title,
                *(_cell(one, queue, figure, None if ratios else digits) for queue in queues),
            ]
            for one in taken
            if figure in one.figures
        ]
        if rows:
            found.append(_table([title, *queues], rows))
    return found


def _cell(one: Taken, queue: str, figure: str, digits: str | None) -> str:
    """A ratio, or a figure with these digits."""
    if queue not in one.samples:
        return "–"
    if digits is None:
        return f"{one.ratio(queue, figure):.2f}"
    return f"{one.middle(queue, figure):{digits}}"


def _horizon(pinned: list[Pinned]) -> str:
    titles = ["jobs a second", "claim p50, ms", "claim p99, ms", "enqueue to done p50, ms"]
    rows = [
        [
            f"{one.variant}, {len(one.runs)} × {len(one.runs[0]) * SLICE} s",
            *(
                f"{one.first(at):{form}} → {one.last(at):{form}} (× {one.growth(at):.2f})"
                for at, form in zip(Slice._fields, (",.0f", ",.2f", ",.2f", ",.2f"), strict=True)
            ),
        ]
        for one in pinned
    ]
    return _table(["first third → last third", *titles], rows)


def _asked(requested: list[Requested]) -> list[str]:
    """The table, and what stands in its last column."""
    titles = [f"{one.rate} a second" for one in requested]
    rows = [
        [
            title,
            *(
                f"{one.middle(f'{step}_p50'):,.1f} / {one.middle(f'{step}_p95'):,.1f}"
                for one in requested
            ),
            PUBLISHED.get(step, "–"),
        ]
        for step, title in STEPS.items()
    ]
    costs = [f"{one.above('whole_p50', 'floor_p50'):,.1f}" for one in requested]
    rows.append(["the plane's part: the medians' difference within a round", *costs, "–"])
    return [
        _table(["ms: p50 / p95, medians of the rounds", *titles, "a plane that polls"], rows),
        "The last column is what was published of a plane with the same steps, whose worker polls"
        " at 100 ms to 2 s, measured in use for six hours: tens of jobs an hour, other queries.\n",
    ]


def _streams(opened: Opened) -> str:
    names = list(opened.samples)
    rows = [
        [title, *(f"{opened.middle(name, figure):{digits}}" for name in names)]
        for figure, (title, digits) in STREAM_FIGURES.items()
    ]
    return _table(["median of the rounds", *names], rows)


def _table(head: list[str], rows: list[list[str]]) -> str:
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "".join(f"| {' | '.join(row)} |\n" for row in [head, rule, *rows])
