"""A crowd: many clients in a process of their own, each of whom follows one stream.

Each does what a browser's client does: it comes back when its stream breaks, after as long as the
server said by `retry:`, with the id of the last event; and again where a refusal passes. Run as a
program it takes who follows what on stdin, and says all that happens on stdout, a JSON line each.
"""

import asyncio
import json
import resource
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import uvloop

from .processes import PY
from .sockets import RawStream

OPENING = 64
"""Streams that are being opened for the first time at once."""
PATIENCE = 60.0
"""Seconds in which what a test waits for has to happen."""
FOR_EVER = 3600.0
"""Seconds between two events, at most: longer than any test."""
RETRY_MS = 3000
"""When a browser comes back that was told nothing."""
PASSING = (429, 500, 502, 503, 504)
"""Refusals after which it is worth to come back."""
LINE = 1024**2


@dataclass(frozen=True)
class Told:
    """The last event of a job: whom it came to, when by the monotonic clock, and what it said."""

    client: int
    at: float
    name: str
    data: Any


class Crowd:
    """What a test knows of its crowd so far."""

    def __init__(self, process: Process) -> None:
        self.seen: set[int] = set()
        """Jobs of which anything was told."""
        self.told: dict[int, Told] = {}
        """Jobs of which the end was told."""
        self.arrivals: list[float] = []
        """When somebody connected."""
        self.opened = 0
        """Streams that have begun to tell something, those of the same client counted again."""
        self.lost: list[int] = []
        """The `retry:` of each stream that broke or ended before its time, in milliseconds."""
        self.refused: list[int] = []
        """The status of each refusal; 0: nobody listened."""
        self.gone: set[int] = set()
        """Clients that need nothing more."""
        self.given_up: list[tuple[int, int]] = []
        """Clients that were refused for good, and by which status."""
        self._process = process
        self._news = asyncio.Event()

    def follow(self, client: int, url: str, path: str, source: str = "127.0.0.1") -> None:
        """Send in one more client, which follows this stream from that address."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([client, url, path, source]).encode() + b"\n")

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until this holds of what is known."""
        async with asyncio.timeout(PATIENCE):
            while not holds():
                assert self._process.returncode is None, "the crowd is no more"
                self._news.clear()
                await self._news.wait()

    async def listen(self) -> None:
        """Take what the crowd says, until its process ends."""
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            self._take(*json.loads(line))
            self._news.set()
        await self._process.wait()
        self._news.set()

    def _take(self, client: int, at: float, what: str, fact: Any) -> None:
        match what:
            case "arrives":
                self.arrivals.append(at)
            case "opened":
                self.opened += 1
            case "event":
                name, data = fact
                job_id = int(data["jobId"])
                self.seen.add(job_id)
                if name in ("done", "error"):
                    self.told[job_id] = Told(client, at, name, data)
            case "lost":
                self.lost.append(fact)
            case "refused":
                self.refused.append(fact)
            case "gives up":
                self.given_up.append((client, fact))
            case "goes":
                self.gone.add(client)


def allow_many_files() -> None:
    """Let this process, and those that it starts, have as many open files as the system allows."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


@asynccontextmanager
async def gathered() -> AsyncIterator[Crowd]:
    """A crowd without clients yet; it is sent home in the end."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.support.crowd", cwd=PY, stdin=PIPE, stdout=PIPE, limit=LINE
    )
    crowd = Crowd(process)
    listening = asyncio.create_task(crowd.listen())
    try:
        yield crowd
    finally:
        process.kill()
        await process.wait()
        await listening


class Client:
    """One of the crowd."""

    def __init__(self, number: int, url: str, path: str, source: str) -> None:
        self._number = number
        self._url = url
        self._path = path
        self._source = source
        self._retry_ms = RETRY_MS
        self._last_id: str | None = None

    async def follow(self, turns: asyncio.Semaphore) -> None:
        """Come back until everything was told, or a refusal is for good."""
        async with turns:
            stream = await self._arrive()
        while True:
            if stream is not None:
                try:
                    if await self._read(stream):
                        self._say("goes")
                        return
                finally:
                    stream.close()
            await asyncio.sleep(self._retry_ms / 1000)
            stream = await self._arrive()

    async def _arrive(self) -> RawStream | None:
        self._say("arrives")
        headers = {"Last_Event_ID": self._last_id} if self._last_id else {}
        try:
            return await RawStream.open(self._url, self._path, self._source, **headers)
        except (OSError, asyncio.IncompleteReadError):
            self._say("refused", 0)
            return None

    async def _read(self, stream: RawStream) -> bool:
        """Whether this client needs nothing more, once its stream is over."""
        if stream.status in PASSING:
            self._say("refused", stream.status)
            return False
        if stream.status != 200:
            if stream.status != 204:
                self._say("gives up", stream.status)
            return True
        last = ("end",) if "jobs=" in self._path else ("done", "error")
        name = None
        try:
            while name not in last:
                began = name is not None
                name, data = await stream.event(FOR_EVER)
                if not began:
                    self._say("opened")
                if name != "end":
                    self._say("event", [name, json.loads(data)])
            return True
        except EOFError:
            self._retry_ms = [self._retry_ms, *stream.retries][-1]
            self._last_id = stream.last_id or self._last_id
            self._say("lost", self._retry_ms)
            return False

    def _say(self, what: str, fact: object = None) -> None:
        line = json.dumps([self._number, time.monotonic(), what, fact])
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


async def _main() -> None:
    allow_many_files()
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    turns = asyncio.Semaphore(OPENING)
    async with asyncio.TaskGroup() as clients:
        async for line in reader:
            clients.create_task(Client(*json.loads(line)).follow(turns))


if __name__ == "__main__":
    uvloop.run(_main())
