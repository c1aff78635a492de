"""What was taken, and what is read from it: medians, and ratios within a round."""

from dataclasses import dataclass, field
from statistics import median

from bench.horizon import Slice, thirds
from bench.measures import Measure, Sample


@dataclass
class Taken:
    """The samples of one measure: for each queue, one a round. The first queue is the base."""

    measure: Measure
    samples: dict[str, list[Sample]] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The measure and its clients, as a row of a table begins."""
        clients = self.measure.clients
        return f"{self.measure.name}, {clients} client{'s' if clients > 1 else ''}"

    @property
    def figures(self) -> list[str]:
        """What each sample has."""
        return list(next(iter(self.samples.values()))[0])

    def middle(self, queue: str, figure: str) -> float:
        """The median over the rounds."""
        return float(median(sample[figure] for sample in self.samples[queue]))

    def ratio(self, queue: str, figure: str) -> float:
        """The median over the rounds of the ratio to the base in the same round."""
        base = next(iter(self.samples.values()))
        pairs = zip(self.samples[queue], base, strict=True)
        return float(median(one[figure] / other[figure] for one, other in pairs))


@dataclass
class Pinned:
    """The runs of one variant under a pinned horizon."""

    variant: str
    runs: list[list[Slice]] = field(default_factory=list)

    def first(self, figure: str) -> float:
        """The median over the first third of each run; of those, the median over the runs."""
        return float(median(getattr(thirds(run)[0], figure) for run in self.runs))

    def last(self, figure: str) -> float:
        """The same of the last third."""
        return float(median(getattr(thirds(run)[1], figure) for run in self.runs))

    def growth(self, figure: str) -> float:
        """The median over the runs of last to first."""
        ends = [thirds(run) for run in self.runs]
        return float(median(getattr(last, figure) / getattr(first, figure) for first, last in ends))


@dataclass
class Opened:
    """The samples of open streams: for each class of response, one a round."""

    count: int
    samples: dict[str, list[Sample]] = field(default_factory=dict)

    def middle(self, name: str, figure: str) -> float:
        """The median over the rounds."""
        return float(median(sample[figure] for sample in self.samples[name]))


@dataclass
class Requested:
    """The samples of questions at one rate, one a round."""

    rate: int
    samples: list[Sample] = field(default_factory=list)

    def middle(self, figure: str) -> float:
        """The median over the rounds."""
        return float(median(sample[figure] for sample in self.samples))

    def above(self, figure: str, floor: str) -> float:
        """The median over the rounds of the difference within each."""
        return float(median(sample[figure] - sample[floor] for sample in self.samples))


def sums(taken: list[Taken]) -> list[Taken]:
    """What a job costs from its enqueue to its end: both measures of a round, by one client."""
    alone = {one.measure.name: one for one in taken if one.measure.clients == 1}
    found = []
    for key in ("", ", dedupe key"):
        enqueue, drain = alone.get(f"enqueue{key}"), alone.get(f"drain one by one{key}")
        if enqueue is None or drain is None:
            continue
        measure = Measure("cost", f"enqueue to done, one by one{key}", 1, drain.measure.take)
        samples = {
            queue: [
                {figure: a[figure] + b[figure] for figure in ("wal", "cpu")}
                for a, b in zip(enqueue.samples[queue], drain.samples[queue], strict=True)
            ]
            for queue in enqueue.samples
        }
        found.append(Taken(measure, samples))
    return found
