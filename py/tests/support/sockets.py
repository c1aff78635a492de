"""Sockets with no library on top: a client that reads no faster than a test wants it to."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Self
from urllib.parse import urlsplit

PATIENCE = 30.0
"""Seconds that a server has to send what a test waits for."""


def free_port() -> int:
    """A port of loopback that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    assert isinstance(port, int)
    return port


def get(path: str, **headers: str) -> bytes:
    """The bytes of a GET; a header's name has `_` for `-`."""
    lines = [f"GET {path} HTTP/1.1", "Host: edge"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


class RawStream:
    """A stream of server-sent events over a socket; nothing is read that is not asked for."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.head = ""
        self.retries: list[int] = []
        """After how many milliseconds to come back, each time that the server said so."""
        self.last_id: str | None = None
        """The id of the last event that had one."""
        self._body = b""

    @classmethod
    async def connect(cls, url: str, source: str | None = None) -> Self:
        """Connect, perhaps from that address of loopback, and say nothing yet."""
        at = urlsplit(url)
        local = (source, 0) if source else None
        return cls(*await asyncio.open_connection(at.hostname, at.port, local_addr=local))

    @classmethod
    async def open(cls, url: str, path: str, source: str | None = None, **headers: str) -> Self:
        """Send a GET and read the head of its answer."""
        opened = await cls.connect(url, source)
        try:
            opened.writer.write(get(path, **headers))
            async with asyncio.timeout(PATIENCE):
                opened.head = (await opened.reader.readuntil(b"\r\n\r\n")).decode().lower()
        except BaseException:
            opened.close()
            raise
        return opened

    @property
    def status(self) -> int:
        """The HTTP status."""
        return int(self.head.split(" ", 2)[1])

    async def event(self, within: float = PATIENCE) -> tuple[str, str]:
        """Name and data of the next event; EOFError where the stream ends or breaks before."""
        async with asyncio.timeout(within):
            while True:
                lines = (await self._block()).split("\n")
                fields = dict(line.split(": ", 1) for line in lines if ": " in line)
                if "retry" in fields:
                    self.retries.append(int(fields["retry"]))
                self.last_id = fields.get("id", self.last_id)
                if "event" in fields:
                    return fields["event"], fields["data"]

    async def over(self) -> str:
        """Read on until it is over; how: it `has ended`, or it `broke`."""
        while True:
            try:
                await self.event()
            except EOFError as error:
                return str(error)

    async def _block(self) -> str:
        """What stands before the next empty line: an event, or a comment."""
        while b"\n\n" not in self._body:
            self._body += await self._more()
        block, _, self._body = self._body.partition(b"\n\n")
        return block.decode()

    async def _more(self) -> bytes:
        try:
            if "transfer-encoding: chunked" not in self.head:
                chunk = await self.reader.read(65536)
            else:
                size = int(await self.reader.readline() or b"0", 16)
                chunk = (await self.reader.readexactly(size + 2))[:-2]
        except (ConnectionError, asyncio.IncompleteReadError) as broken:
            raise EOFError("the stream broke") from broken
        if not chunk:
            raise EOFError("the stream has ended")
        return chunk

    def close(self) -> None:
        """Leave without a word."""
        self.writer.transport.abort()


@asynccontextmanager
async def raw_stream(url: str, path: str, **headers: str) -> AsyncIterator[RawStream]:
    """A stream that is left with the block."""
    opened = await RawStream.open(url, path, **headers)
    try:
        yield opened
    finally:
        opened.close()
