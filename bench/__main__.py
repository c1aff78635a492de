"""`python -m bench`: take the measures, in rounds, and print what they showed."""

import click

from bench.floor import FLOOR
from bench.measures import MEASURES
from bench.plane import PLANE, UNTOLD
from bench.report import Taken, tables
from bench.server import Bench


@click.command()
@click.option("--only", default="", help="Parts to take, separated by blanks; none is all.")
@click.option("--seconds", default=3, help="How long each figure is taken.")
@click.option("--rounds", default=3, help="How often each figure is taken.")
def main(only: str, seconds: int, rounds: int) -> None:
    """Measure the ledger beside the floor and other queues."""
    chosen = [Taken(m) for m in MEASURES if not only or m.part in only.split()]
    bench = Bench()
    try:
        for one in chosen:
            for _ in range(rounds):
                for queue in (FLOOR, PLANE, UNTOLD):
                    sample = one.measure.take(bench, queue, one.measure.clients, seconds)
                    one.samples.setdefault(queue.name, []).append(sample)
                    click.echo(
                        f"{one.title:45}{queue.name:18}{sample.rate:10,.0f}/s"
                        f"{sample.wal:8.0f} B{sample.cpu:8.0f} µs"
                    )
    finally:
        bench.close()
    click.echo("\n" + tables(chosen))


main()
