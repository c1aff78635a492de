"""`python -m bench`: take the measures in rounds, and write down what they showed."""

from datetime import UTC, datetime
from pathlib import Path

import click

from bench import requests as questions
from bench import streams as open_streams
from bench.edge import CLASSES
from bench.facts import gather
from bench.floor import FLOOR
from bench.horizon import READER, Variant, run_pinned
from bench.measures import MEASURES
from bench.peers import find_peers
from bench.plane import plane
from bench.plot import draw
from bench.queues import Queue
from bench.report import Report
from bench.samples import Opened, Pinned, Requested, Taken
from bench.server import Bench

RESULTS = Path(__file__).parent / "results"

PARTS = list(
    dict.fromkeys([*(measure.part for measure in MEASURES), "horizon", "requests", "streams"])
)

UNTIMED = {"requests", "streams"}
"""The parts that take as long as they take."""

MODES = [plane(mode, mode) for mode in ("never", "waiters", "always")]
"""The queues of the part `notify`, which compares the ledger with itself."""


def variants(queues: list[Queue]) -> dict[str, Variant]:
    """What can run under a pinned horizon, by the word that asks for it."""
    return {
        **{queue.name: Variant(queue.name, queue) for queue in queues if "," not in queue.name},
        "reader": Variant("pgplane, pinned by a reader", plane("pgplane"), READER),
        "queues": Variant("pgplane, 4 queues", plane("pgplane, 4 queues", queues=4)),
        "priorities": Variant(
            "pgplane, 3 priorities", plane("pgplane, 3 priorities", priorities=3)
        ),
    }


@click.command()
@click.option("--only", default="", help=f"Parts to take: {' '.join(PARTS)}; none is all.")
@click.option("--seconds", default=1, help="How long each figure is taken.")
@click.option("--rounds", default=3, help="How often each figure is taken.")
@click.option("--minutes", default=3, help="How long the horizon is pinned.")
@click.option("--runs", default=1, help="How often that is done.")
@click.option("--horizon", default="floor pgplane", help="Variants of that; see the README.")
@click.option("--streams", default=2000, help="How many streams are open.")
@click.option("--requests", default=60, help="How many questions are asked at each rate, at least.")
@click.option("--name", default="", help="What the files of the results are called.")
def main(
    only: str,
    seconds: int,
    rounds: int,
    minutes: int,
    runs: int,
    horizon: str,
    streams: int,
    requests: int,
    name: str,
) -> None:
    """Measure the ledger beside the floor and other queues."""
    parts = only.split() or PARTS
    if unknown := set(parts) - set(PARTS):
        raise click.UsageError(f"no such part: {', '.join(unknown)}")
    queues = [FLOOR, plane("pgplane"), plane("pgplane, waiters", "waiters"), *find_peers()]
    known = variants(queues)
    if unknown := set(horizon.split()) - known.keys():
        raise click.UsageError(f"no such variant here: {', '.join(unknown)}")
    chosen = [known[word] for word in horizon.split()]
    bench = Bench()
    try:
        how = f"{rounds} rounds" + ("" if {*parts} <= UNTIMED else f" of {seconds} s")
        report = Report(gather(bench, how))
        if {*parts} <= UNTIMED:
            report.facts["driver"] = "one process in Python, TCP on loopback, same machine"
        for measure in (measure for measure in MEASURES if measure.part in parts):
            ours = MODES if measure.part == "notify" else queues
            report.taken.append(take(bench, Taken(measure), ours, seconds, rounds))
        if "horizon" in parts:
            report.pinned += pin(bench, chosen, minutes * 60, runs)
        if "requests" in parts:
            report.requested = ask(bench, requests, rounds)
        if "streams" in parts:
            report.opened = hold_open(bench, streams, rounds)
    finally:
        bench.close()
    write(report, f"{datetime.now(UTC):%Y-%m-%d}-{name or 'bench'}")


def take(bench: Bench, taken: Taken, queues: list[Queue], seconds: int, rounds: int) -> Taken:
    """All rounds of one measure: a b c, a b c, so that noise hits all alike."""
    for _ in range(rounds):
        for queue in queues:
            sample = taken.measure.take(bench, queue, taken.measure.clients, seconds)
            if sample is not None:
                taken.samples.setdefault(queue.name, []).append(sample)
                told = "".join(f"{value:10,.2f} {figure}" for figure, value in sample.items())
                click.echo(f"{taken.title:45}{queue.name:18}{told}")
    return taken


def pin(bench: Bench, variants: list[Variant], seconds: int, runs: int) -> list[Pinned]:
    """All runs under a pinned horizon, in turns."""
    found = [Pinned(variant.name) for variant in variants]
    for _ in range(runs):
        for variant, one in zip(variants, found, strict=True):
            one.runs.append(run_pinned(bench, variant, seconds))
            for at in one.runs[-1]:
                told = "".join(f"{value:10,.2f} {figure}" for figure, value in at._asdict().items())
                click.echo(f"{variant.name:45}{told}")
    return found


def ask(bench: Bench, requests: int, rounds: int) -> list[Requested]:
    """All rounds of questions, at each rate in turn."""
    found = {rate: Requested(rate) for rate in questions.RATES}
    for _ in range(rounds):
        for rate, sample in questions.take(bench, requests).items():
            found[rate].samples.append(sample)
            told = "".join(f"{value:10,.2f} {figure}" for figure, value in sample.items())
            click.echo(f"{f'{rate} questions a second':25}{told}")
    return list(found.values())


def hold_open(bench: Bench, count: int, rounds: int) -> Opened:
    """All rounds of open streams, the classes in turns."""
    found = Opened(count)
    for _ in range(rounds):
        for name in CLASSES:
            sample = open_streams.take(bench, name, count)
            found.samples.setdefault(name, []).append(sample)
            told = "".join(f"{value:10,.2f} {figure}" for figure, value in sample.items())
            click.echo(f"{f'{count} streams':20}{name:18}{told}")
    return found


def write(report: Report, name: str) -> None:
    """The page, its picture and the samples."""
    RESULTS.mkdir(exist_ok=True)
    page = report.markdown(f"{name}.svg")
    (RESULTS / f"{name}.md").write_text(page)
    (RESULTS / f"{name}.json").write_text(report.raw())
    draw(report, RESULTS / f"{name}.svg")
    click.echo(f"\n{page}\nWritten to bench/results/, as {name}.*")


if __name__ == "__main__":  # worker processes import this module again
    main()
