"""Processes beside this one, heard through their log, a file: none waits for a reader."""

import json
import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import psutil  # type: ignore[import-untyped]

PATIENCE = 60.0
"""Seconds that a process has to start."""

Said = dict[str, dict[str, Any]]
"""The last log line of each event."""


@contextmanager
def running(
    command: list[str], settings: Mapping[str, str], *events: str
) -> Iterator[tuple[psutil.Process, Said]]:
    """A process, once it has said all of these; `settings` are the only PLANE_* that it has."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PLANE_")}
    with NamedTemporaryFile("w") as log:
        process = subprocess.Popen(  # noqa: S603 - ours
            command, env={**inherited, **settings}, stderr=log
        )
        try:
            yield psutil.Process(process.pid), _said(process, Path(log.name), set(events))
        finally:
            process.terminate()
            process.wait()


def _said(process: subprocess.Popen[bytes], log: Path, events: set[str]) -> Said:
    until = time.monotonic() + PATIENCE
    while True:
        lines = log.read_text().splitlines()
        said = [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]
        found = {one["event"]: one for one in said}
        if events <= found.keys():
            return found
        if process.poll() is not None or time.monotonic() > until:
            raise RuntimeError(f"{process.args!r} does not start:\n" + "\n".join(lines))
        time.sleep(0.05)
