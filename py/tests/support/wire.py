"""A wire between a client and a server that a test can spoil: a TCP proxy on loopback."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Literal

CHUNK = 65536
RESET = struct.pack("ii", 1, 0)
"""SO_LINGER: on closing, say RST and not FIN."""

Direction = Literal["up", "down"]
"""From client to server, and back."""


class Wire:
    """Carries what both ends send, until a test says otherwise; it concerns new connections too.

    A connection's end is carried like any byte: at once, late, or never.
    """

    def __init__(self, port: int) -> None:
        self.port = 0
        """Where clients connect."""
        self.carried: dict[Direction, int] = {"up": 0, "down": 0}
        """Bytes that arrived at the other end."""
        self._target = port
        self._free = asyncio.Event()
        self._free.set()
        self._swallowing = False
        self._pace: tuple[int, float] | None = None
        self._full_pace = asyncio.Event()
        self._pairs: set[Pair] = set()
        self._serving: set[asyncio.Task[None]] = set()
        self._closed = False

    @property
    def url(self) -> str:
        """Where clients connect, as an address."""
        return f"http://127.0.0.1:{self.port}"

    def __len__(self) -> int:
        return len(self._pairs)

    def cut(self) -> None:
        """Break all connections: both ends see a reset."""
        for pair in self._pairs:
            pair.cut()

    def hold(self) -> None:
        """Keep back everything, both ways."""
        self._free.clear()

    def trickle(self, size: int, seconds: float) -> None:
        """Carry at most `size` bytes at a time, and rest for so long after each."""
        self._pace = (size, seconds)
        self._full_pace.clear()

    def swallow(self) -> None:
        """Half-open: take what both ends send and lose it; neither hears that the other ended."""
        self._swallowing = True
        for pair in self._pairs:
            pair.lost = True
        self._free.set()

    def release(self) -> None:
        """Carry again, first what was held back; a connection that was half-open stays so."""
        self._swallowing = False
        self._pace = None
        self._full_pace.set()
        self._free.set()

    async def turn(self) -> int:
        """Wait until something may be carried; how many bytes."""
        await self._free.wait()
        return self._pace[0] if self._pace else CHUNK

    async def rest(self) -> None:
        """Wait as long as the pace says."""
        if self._pace:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._full_pace.wait(), self._pace[1])

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry one connection."""
        if self._closed:
            _reset(writer)
            return
        serving = asyncio.create_task(self._serve(reader, writer), name="wire")
        self._serving.add(serving)
        serving.add_done_callback(self._serving.discard)

    async def close(self) -> None:
        """Cut what is still connected, and what is just about to be."""
        self._closed = True
        self.cut()
        while self._serving:
            await asyncio.wait(self._serving)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """From its client's first byte to its end."""
        try:
            server = await asyncio.open_connection("127.0.0.1", self._target)
        except ConnectionError:
            _reset(writer)
            return
        pair = Pair(self, (reader, writer), server, lost=self._swallowing)
        self._pairs.add(pair)
        if self._closed:
            pair.cut()
        await pair.carry()
        self._pairs.discard(pair)


class Pair:
    """A client's connection and the one to the server that goes with it."""

    def __init__(
        self,
        wire: Wire,
        client: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        server: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        *,
        lost: bool,
    ) -> None:
        self.lost = lost
        """Whether it is half-open."""
        self._wire = wire
        self._ends = (client, server)
        self._carrying = asyncio.current_task()

    async def carry(self) -> None:
        """Carry both directions until both have ended, or one has broken, or it is cut."""
        (hears_client, to_client), (hears_server, to_server) = self._ends
        try:
            async with asyncio.TaskGroup() as ways:
                ways.create_task(self._one_way(hears_client, to_server, "up"))
                ways.create_task(self._one_way(hears_server, to_client, "down"))
            for writer in (to_client, to_server):
                writer.close()
                await writer.wait_closed()
        except* (OSError, asyncio.CancelledError):
            pass
        finally:
            _reset(to_client)
            _reset(to_server)

    def cut(self) -> None:
        """Break it."""
        assert self._carrying is not None
        self._carrying.cancel()

    async def _one_way(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, way: Direction
    ) -> None:
        try:
            while chunk := await reader.read(CHUNK):
                await self._pass_on(chunk, writer, way)
            await self._wire.turn()
        except OSError:
            if not self.lost:
                raise
        if self.lost:
            await asyncio.Event().wait()
        writer.write_eof()

    async def _pass_on(self, chunk: bytes, writer: asyncio.StreamWriter, way: Direction) -> None:
        while chunk:
            size = await self._wire.turn()
            if self.lost:
                return
            writer.write(chunk[:size])
            await writer.drain()
            self._wire.carried[way] += len(chunk[:size])
            chunk = chunk[size:]
            await self._wire.rest()


def _reset(writer: asyncio.StreamWriter) -> None:
    """End a connection without a goodbye; one that is closing may still have bytes to send."""
    if not writer.transport.is_closing():
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    writer.transport.abort()


@asynccontextmanager
async def wire(port: int) -> AsyncIterator[Wire]:
    """A wire to the server at this port of loopback; all that is still on it is cut in the end."""
    running = Wire(port)
    server = await asyncio.start_server(running.accept, "127.0.0.1", 0)
    running.port = server.sockets[0].getsockname()[1]
    try:
        yield running
    finally:
        server.close()
        await running.close()
