"""What was measured, as tables: ratios to the floor of the same round first, absolutes after."""

from dataclasses import dataclass, field
from statistics import median

from bench.measures import Measure, Sample


@dataclass
class Taken:
    """The samples of one measure: for each queue, one a round."""

    measure: Measure
    samples: dict[str, list[Sample]] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The measure and its clients, as a row of a table begins."""
        return f"{self.measure.name}, {self.measure.clients} client" + "s" * (
            self.measure.clients > 1
        )

    def middle(self, queue: str, figure: str) -> float:
        """The median over the rounds."""
        return float(median(getattr(sample, figure) for sample in self.samples[queue]))

    def ratio(self, queue: str, figure: str) -> float:
        """The median over the rounds of the ratio to the floor in the same round."""
        pairs = zip(self.samples[queue], self.samples["floor"], strict=True)
        return float(median(getattr(one, figure) / getattr(floor, figure) for one, floor in pairs))


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown, its numbers to the right."""
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "".join(f"| {' | '.join(row)} |\n" for row in [head, rule, *rows])


def tables(taken: list[Taken]) -> str:
    """Ratios and absolutes of all measures."""
    queues = list(dict.fromkeys(name for one in taken for name in one.samples))
    figures = [
        ("rate", "Jobs a second", 1.0),
        ("wal", "Bytes of write-ahead log a job", 1.0),
        ("cpu", "Microseconds of the server's CPU a job", 1.0),
    ]
    parts = []
    for figure, title, _ in figures:
        ratios = [
            [one.title, *(f"{one.ratio(name, figure):.2f}" for name in queues)] for one in taken
        ]
        absolutes = [
            [one.title, *(f"{one.middle(name, figure):,.0f}" for name in queues)] for one in taken
        ]
        parts += [
            f"### {title}: to the floor's\n\n" + table(["", *queues], ratios),
            f"### {title}\n\n" + table(["", *queues], absolutes),
        ]
    return "\n".join(parts)
