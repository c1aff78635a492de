"""What a reader must know of the machine and of what was measured on it; no names, no places."""

import os
import platform
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from bench.pgbench import version
from bench.server import SETTINGS, Bench

ROOT = Path(__file__).resolve().parents[1]


def gather(bench: Bench, how: str) -> dict[str, str]:
    """The facts, as a table has them; takes a second or two."""
    return {
        "taken": f"{datetime.now(UTC):%Y-%m-%d}, {how}",
        "commit": _commit(),
        "CPU": f"{_cpu()}, {os.cpu_count()} cores, {psutil.virtual_memory().total >> 30} GiB",
        "kernel": f"{platform.system()} {platform.release().partition('-')[0]}",
        "PostgreSQL": bench.admin.info.parameter_status("server_version") or "",
        "driver": f"{version(bench)}, prepared statements, TCP on loopback, same machine",
        "fdatasync of 8 KiB": _fdatasync(bench),
        "settings": ", ".join(f"{name} = {value}" for name, value in SETTINGS.items()),
    }


def _commit() -> str:
    git = ["git", "-C", str(ROOT)]
    commit = _output([*git, "rev-parse", "--short=10", "HEAD"]).strip()
    changed = _output([*git, "status", "--porcelain", "--", "bench", "db", "py/src"]).strip()
    return f"{commit}, with changes" if changed else commit


def _cpu() -> str:
    found = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return found.group(1) if found else platform.machine()


def _fdatasync(bench: Bench) -> str:
    """The first figure of pg_test_fsync on the disk of the server's files."""
    program = bench.program("pg_test_fsync")
    if program is None:
        return "not measured"
    file = Path(bench.server.base_dir) / "fsync.out"
    with subprocess.Popen(  # noqa: S603 - PostgreSQL's own
        [str(program), "-s", "1", "-f", str(file)], stdout=subprocess.PIPE, text=True
    ) as process:
        for line in process.stdout or ():
            if found := re.search(r"^\s+fdatasync.*?(\d+) usecs/op", line):
                process.terminate()
                return f"{found.group(1)} µs"
    return "not measured"


def _output(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603
