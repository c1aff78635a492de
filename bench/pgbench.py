"""The driver: pgbench, written in C, with prepared statements; the same for every queue."""

import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench.queues import PAYLOAD, RESULT
from bench.server import Bench, Spent


@dataclass(frozen=True)
class Run:
    """What one run of a script did."""

    transactions: int
    rate: float
    """Transactions a second, without the time to connect."""
    spent: Spent


def run(
    bench: Bench,
    script: str,
    clients: int,
    *,
    seconds: float | None = None,
    transactions: int | None = None,
) -> Run:
    """Run a script with so many clients, for so long or so often per client.

    Raises RuntimeError when anything in it failed.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "script.sql"
        file.write_text(script)
        command = [
            str(bench.pgbench()), "-n", "-M", "prepared", "-f", str(file),
            "-c", str(clients), "-j", str(min(clients, 2)),
            "-D", f"payload={PAYLOAD}", "-D", f"result={RESULT}", "-D", "n=0",
            *(["-T", str(seconds)] if seconds else ["-t", str(transactions)]),
            bench.url,
        ]  # fmt: skip
        with bench.spending() as spent:
            done = subprocess.run(  # noqa: S603 - our own script
                command, capture_output=True, text=True, check=False
            )
    if done.returncode != 0 or "number of failed transactions: 0 " not in done.stdout:
        raise RuntimeError(f"pgbench failed:\n{script}\n{done.stdout}{done.stderr}")
    return Run(
        int(_found(r"actually processed: (\d+)", done.stdout)),
        float(_found(r"tps = ([\d.]+) \(without", done.stdout)),
        spent[0],
    )


def _found(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    if match is None:
        raise RuntimeError(f"pgbench says nothing of {pattern}:\n{text}")
    return match.group(1)
