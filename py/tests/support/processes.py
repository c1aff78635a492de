"""Processes of pgplane for tests: started by the command line, heard through their log."""

import json
import os
import signal
import subprocess
import sys
from collections import deque
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from time import monotonic
from types import TracebackType
from typing import Any, Self

from pgplane.settings import Settings

PATIENCE = 30.0
"""Seconds that a process has to say what a test waits for, or to end."""

PY = Path(__file__).resolve().parents[2]


class Process:
    """A running `pgplane` command; `settings` become its PLANE_* variables, and no others do.

    Ends with the `with` block, whatever it does by then. What has ended can be started again.
    """

    def __init__(self, *arguments: str, **settings: str) -> None:
        unknown = settings.keys() - Settings.model_fields.keys()
        assert not unknown, f"there are no such settings, which nobody else would say: {unknown}"
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("PLANE_")}
        self._arguments = arguments
        self._environment = (
            inherited
            | {"PYTHONPATH": os.pathsep.join([str(PY), str(PY.parent / "examples" / "flights")])}
            | {f"PLANE_{name.upper()}": value for name, value in settings.items()}
        )
        self.said: list[str] = []
        self._start(*arguments)

    def _start(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [str(Path(sys.executable).parent / "pgplane"), *arguments],
            cwd=PY,
            env=self._environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._lines: Queue[str | None] = Queue()
        self._unread: deque[dict[str, Any]] = deque()
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def event(self, name: str, **fields: object) -> dict[str, Any]:
        """Wait for a log event of that name and those fields; each is returned once, in order."""
        until = monotonic() + PATIENCE
        kept: list[dict[str, Any]] = []
        try:
            while True:
                event = self._unread.popleft() if self._unread else self._next(until, name)
                if event["event"] == name and fields.items() <= event.items():
                    return event
                kept.append(event)
        finally:
            self._unread.extendleft(reversed(kept))

    def break_log(self) -> None:
        """Leave nobody at the other end of its log: what it says next meets a broken pipe."""
        assert self.process.stderr is not None
        with Path(os.devnull).open() as nothing:
            os.dup2(nothing.fileno(), self.process.stderr.fileno())

    def terminate(self) -> int:
        """SIGTERM, and the exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)

    def kill(self) -> None:
        """SIGKILL: no goodbye."""
        self.process.kill()
        self.process.wait(PATIENCE)

    def restart(self, *arguments: str) -> None:
        """Start it again once it has ended, or been killed just now, with more arguments.

        `said` keeps what the one before said; `event` waits for what the new one says.
        """
        self.close()
        self._start(*self._arguments, *arguments)

    def peak_bytes(self) -> int:
        """The most memory that it has had (Linux)."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        (line,) = [line for line in status.splitlines() if line.startswith("VmHWM:")]
        return int(line.split()[1]) * 1024

    def close(self) -> None:
        """End it."""
        if self.process.poll() is None:
            self.kill()
        self._reader.join(PATIENCE)
        assert self.process.stderr is not None
        self.process.stderr.close()

    def _next(self, until: float, name: str) -> dict[str, Any]:
        try:
            line = self._lines.get(timeout=max(0.0, until - monotonic()))
        except Empty:
            line = None
        if line is None:
            raise AssertionError(f"the process never said {name}; it said:\n{''.join(self.said)}")
        event: dict[str, Any] = json.loads(line)
        return event

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said.append(line)
            if line.startswith("{"):
                self._lines.put(line)
        self._lines.put(None)
