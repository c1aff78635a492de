"""The driver: pgbench, written in C, with prepared statements; the same for every queue."""

import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench.queues import PAYLOAD, RESULT
from bench.server import Bench


@dataclass(frozen=True)
class Run:
    """What one run of a script did."""

    transactions: int
    rate: float
    """Transactions a second, without the time to connect."""


def run(
    bench: Bench,
    script: str,
    clients: int,
    *,
    seconds: int | None = None,
    transactions: int | None = None,
    rate: int | None = None,
    batch: int = 1,
) -> Run:
    """Run a script with so many clients, for so long or so often per client, at most at this rate.

    Raises RuntimeError when anything in it failed.
    """
    variables = {"payload": PAYLOAD, "result": RESULT, "batch": batch, "n": 0}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "script.sql"
        file.write_text(script)
        command = [
            _pgbench(bench), "-n", "-M", "prepared", "-f", str(file),
            "-c", str(clients), "-j", str(min(clients, 2)),
            *(f"--define={name}={value}" for name, value in variables.items()),
            *([f"--rate={rate}"] if rate else []),
            *([f"--time={seconds}"] if seconds else [f"--transactions={transactions}"]),
            bench.url,
        ]  # fmt: skip
        done = subprocess.run(  # noqa: S603 - our own script
            command, capture_output=True, text=True, check=False
        )
    if done.returncode != 0 or "number of failed transactions: 0 " not in done.stdout:
        raise RuntimeError(f"pgbench failed:\n{script}\n{done.stdout}{done.stderr}")
    return Run(
        int(_found(r"actually processed: (\d+)", done.stdout)),
        float(_found(r"tps = ([\d.]+) \(without", done.stdout)),
    )


def version(bench: Bench) -> str:
    """What the driver calls itself: pgbench (PostgreSQL) 15.1."""
    done = subprocess.run(  # noqa: S603 - PostgreSQL's own
        [_pgbench(bench), "--version"], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def _pgbench(bench: Bench) -> str:
    program = bench.program("pgbench")
    if program is None:
        raise RuntimeError("no pgbench: on Debian, apt-get install postgresql-contrib")
    return str(program)


def _found(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    if match is None:
        raise RuntimeError(f"pgbench says nothing of {pattern}:\n{text}")
    return match.group(1)
