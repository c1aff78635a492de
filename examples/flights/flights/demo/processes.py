"""The demo's child processes, their logs, and those that a killed run left behind."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from flights.demo.trouble import DemoError, tail

_GRACE_SECONDS = 15.0


class Child:
    """One running process; its output goes to a log file.

    It has a session of its own: a Ctrl-C reaches the demo alone, which ends its children in order.
    """

    def __init__(
        self, name: str, command: Sequence[str], env: Mapping[str, str], log: Path
    ) -> None:
        """Start it, with exactly this environment. Raises DemoError."""
        self.name = name
        self.log = log
        with log.open("wb") as output:
            try:
                self._process = subprocess.Popen(
                    list(command),
                    env=dict(env),
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            except OSError as error:
                raise DemoError(f"cannot start {name} ({command[0]}): {error.strerror}") from error

    @property
    def pid(self) -> int:
        return self._process.pid

    def require_alive(self) -> None:
        """Raises DemoError, with the end of the log, where the process has ended."""
        status = self._process.poll()
        if status is not None:
            raise DemoError(
                f"{self.name} ended with status {status}; the end of {self.log}:\n{tail(self.log)}"
            )

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
    """Which children this run has, in a file: the next run ends what a killed one left."""

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
        self.forget()

    def forget(self) -> None:
        """All of them have ended."""
        self._file.unlink(missing_ok=True)


def _wait(process: psutil.Process) -> None:
    try:
        process.wait(_GRACE_SECONDS)
    except psutil.TimeoutExpired:
        process.kill()
        process.wait(_GRACE_SECONDS)


async def wait_until(
    ready: Callable[[], Awaitable[bool]], child: Child, seconds: float = 30.0
) -> None:
    """Wait for a child to be ready. Raises DemoError, with its log's end, if it ends or is late."""
    deadline = time.monotonic() + seconds
    while not await ready():
        child.require_alive()
        if time.monotonic() > deadline:
            raise DemoError(
                f"{child.name} was not ready within {seconds:.0f} s; "
                f"the end of {child.log}:\n{tail(child.log)}"
            )
        await asyncio.sleep(0.05)
