"""Many clients at once, each a process of its own that may be killed."""

import json
import os
import random
import signal
import subprocess
import sys
from queue import Empty, Queue
from threading import Thread
from types import TracebackType
from typing import Any, Self

from ..support.processes import PATIENCE, PY
from .account import Account

ROLES = ("producer", "producer", "worker", "worker", "worker")


class Client:
    """A running `hands`; what it says goes to `heard`."""

    def __init__(self, url: str, role: str, seed: int, heard: "Queue[dict[str, Any]]") -> None:
        self.role = role
        # a SIGTERM that comes while it starts is held back until it can be heard
        masked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.hands", url, role, str(seed)],
            cwd=PY,
            env={**os.environ, "PYTHONPATH": str(PY)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        signal.pthread_sigmask(signal.SIG_SETMASK, masked)
        self._heard = heard
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def kill(self) -> None:
        """SIGKILL, whatever it is about; what it had said is still heard."""
        self.process.kill()
        self._end()

    def stop(self) -> None:
        """SIGTERM; fails where the client ended in an error."""
        self.process.terminate()
        errors = self._end()
        assert self.process.returncode == 0, (self.process.returncode, errors)

    def _end(self) -> str:
        assert self.process.stderr is not None
        errors = self.process.stderr.read()
        self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        self.process.stderr.close()
        return errors

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as said:
            for line in said:
                # the last line of one that was killed may have no end
                if line.endswith("\n"):
                    self._heard.put(json.loads(line))


class Crowd:
    """Clients at work on one database, and the account of what they were told."""

    def __init__(self, url: str, seed: int) -> None:
        self.url = url
        self.random = random.Random(seed)
        self.account = Account()
        self._heard: Queue[dict[str, Any]] = Queue()
        self.clients = [self._client(role) for role in ROLES]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for client in self.clients:
            if client.process.poll() is None:
                client.kill()

    def work(self) -> None:
        """Let them get on: until a random number of further calls has been acknowledged."""
        until = len(self.account) + self.random.randint(50, 400)
        while len(self.account) < until:
            try:
                self.account.note(self._heard.get(timeout=PATIENCE))
            except Empty:
                raise AssertionError(f"nobody gets on: {self._errors()}") from None

    def kill_one(self) -> None:
        """One client dies on the spot, another takes its place."""
        victim = self.random.choice(self.clients)
        victim.kill()
        self.clients.remove(victim)
        self.clients.append(self._client(victim.role))

    def stop(self) -> None:
        """All end in good order."""
        for client in self.clients:
            client.stop()
        while not self._heard.empty():
            self.account.note(self._heard.get())

    def _client(self, role: str) -> Client:
        return Client(self.url, role, self.random.randrange(1_000_000), self._heard)

    def _errors(self) -> list[str]:
        ended = [client for client in self.clients if client.process.poll() is not None]
        return [client.process.stderr.read() for client in ended if client.process.stderr]
