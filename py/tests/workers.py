"""Real worker processes for tests, and the surface that they serve."""

import json
import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from time import monotonic
from typing import Any

from psycopg import AsyncConnection

from pgplane.errors import HttpError
from pgplane.surface import Envelope, Params, Surface

PATIENCE = 30.0
QUEUE = "surface-test"
ENVELOPE = '{"client": "acme", "actor": "ada", "staff": false, "scope": ["EWR"]}'

surface = Surface("test")


class Nothing(Params):
    """No params."""


class Word(Params):
    """One word."""

    word: str


class Seconds(Params):
    """How long."""

    seconds: float = 1.0


@surface.operation("echo")
async def echo(params: Word, envelope: Envelope, client: AsyncConnection[Any]) -> object:
    if params.word == "nobody":
        raise HttpError(404, "NO_SUCH_WORD", "there is no such word", word=params.word)
    if params.word == "broken":
        raise RuntimeError("it broke; password=hunter2")
    return {"word": params.word, "client": envelope.client}


@surface.operation("slow", timeout_seconds=60)
async def slow(params: Seconds, envelope: Envelope, client: AsyncConnection[Any]) -> object:
    await client.execute("select pg_sleep(%s)", [params.seconds])
    return {"slept": params.seconds}


@surface.operation("impatient", timeout_seconds=1)
async def impatient(params: Nothing, envelope: Envelope, client: AsyncConnection[Any]) -> object:
    await client.execute("select pg_sleep(60)")
    return None


@surface.operation("writer")
async def writer(params: Nothing, envelope: Envelope, client: AsyncConnection[Any]) -> object:
    await client.execute("create table scribble (id int)")
    return None


class Worker:
    """A running worker process; its log lines are its voice."""

    def __init__(self, **settings: str) -> None:
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("PLANE_")}
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                "from pgplane.settings import Settings; from pgplane.worker.main import run;"
                "run(Settings(), 'tests.workers:surface')",
            ],
            cwd=Path(__file__).resolve().parents[1],
            env=inherited | {f"PLANE_{name.upper()}": value for name, value in settings.items()},
            stderr=subprocess.PIPE,
            text=True,
        )
        self.said: list[str] = []
        self._lines: Queue[str | None] = Queue()
        self._unread: deque[dict[str, Any]] = deque()
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

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

    def terminate(self) -> int:
        """SIGTERM, and the exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)

    def kill(self) -> None:
        """SIGKILL: no goodbye."""
        self.process.kill()
        self.process.wait(PATIENCE)

    def close(self) -> None:
        """End it, whatever it does."""
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
            raise AssertionError(f"the worker never said {name}; it said:\n{''.join(self.said)}")
        event: dict[str, Any] = json.loads(line)
        return event

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said.append(line)
            if line.startswith("{"):
                self._lines.put(line)
        self._lines.put(None)


@contextmanager
def running(queue_url: str, client_url: str, **settings: str) -> Iterator[Worker]:
    """A worker of QUEUE that has started and hears notifications."""
    worker = Worker(queue=QUEUE, queue_url=queue_url, client_url=client_url, **settings)
    try:
        worker.event("worker.started")
        worker.event("listener.ready")
        yield worker
    finally:
        worker.close()
