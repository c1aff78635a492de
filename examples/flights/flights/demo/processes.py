"""The demo's child processes, their logs, and those that a killed run left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from flights.demo.trouble import Trouble, tail

_GRACE_SECONDS = 15.0


class Child:
    """One running process; its output goes to a log file.

    It has a session of its own: a Ctrl-C reaches the demo alone, which then ends its children in order.
    """

    def __init__(self, name: str, command: Sequence[str], env: Mapping[str, str], log: Path) -> None:
        """Start it. `env` is added to ours. Raises Trouble."""
        self.name = name
        self.log = log
        with log.open("wb") as output:
            try:
                self._process = subprocess.Popen(
                    list(command),
                    env={**os.environ, **env},
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            except OSError as error:
                raise Trouble(f"cannot start {name} ({command[0]}): {error.strerror}") from error

    @property
    def pid(self) -> int:
        return self._process.pid

    def require_alive(self) -> None:
        """Raises Trouble, with the end of the log, where the process has ended."""
        status = self._process.poll()
        if status is not None:
            raise Trouble(f"{self.name} ended with status {status}; the end of {self.log}:\n{tail(self.log)}")

    def stop(self) -> int:
        """Ask it to end, insist after a grace time; its exit status."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(_GRACE_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
        return self._process.wait()


class Register:
    """Which children this run has, kept in a file: so that the next run can end what a killed one left."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def write(self, children: Sequence[Child]) -> None:
        """Note these children; a process is its id and the moment it began."""
        entries = []
        for child in children:
            try:
                began = psutil.Process(child.pid).create_time()
            except psutil.NoSuchProcess:
                continue
            entries.append({"name": child.name, "pid": child.pid, "began": began})
        self._file.write_text(json.dumps(entries), encoding="utf-8")

    def clear(self, say: Callable[[str], None]) -> None:
        """End what is still alive of an earlier run, and forget it."""
        try:
            entries = json.loads(self._file.read_text(encoding="utf-8"))
        except (FileNotFoundError, json.JSONDecodeError):
            return
        for entry in entries:
            try:
                process = psutil.Process(entry["pid"])
                if process.create_time() == entry["began"]:
                    say(f"stopping the {entry['name']} that an earlier run left behind")
                    process.send_signal(signal.SIGTERM)
                    _wait(process)
            except psutil.NoSuchProcess:
                continue
        self._file.unlink(missing_ok=True)


def _wait(process: psutil.Process) -> None:
    try:
        process.wait(_GRACE_SECONDS)
    except psutil.TimeoutExpired:
        process.kill()
        process.wait(_GRACE_SECONDS)


def wait_until(ready: Callable[[], bool], children: Sequence[Child], what: str, seconds: float) -> None:
    """Wait for a condition, watching the children meanwhile. Raises Trouble when one ends, or time is up."""
    deadline = time.monotonic() + seconds
    while not ready():
        for child in children:
            child.require_alive()
        if time.monotonic() > deadline:
            logs = "\n".join(f"  {child.name}, the end of {child.log}:\n{tail(child.log)}" for child in children)
            raise Trouble(f"{what} did not become ready within {seconds:.0f} s\n{logs}")
        time.sleep(0.05)
