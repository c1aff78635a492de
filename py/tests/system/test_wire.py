"""The wire that tests spoil does to both ends what it says."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from ..support.edges import until
from ..support.sockets import free_port
from ..support.wire import Wire, wire


class End:
    """One end of a connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    def say(self, word: bytes) -> None:
        self._writer.write(word)

    async def hear(self, size: int) -> bytes:
        """So many bytes, or fewer and then the end."""
        found = b""
        async with asyncio.timeout(20):
            while len(found) < size and (chunk := await self._reader.read(size - len(found))):
                found += chunk
        return found

    async def hears_nothing(self) -> bool:
        """Whether nothing comes, and no end either, while the loop goes round."""
        listening = asyncio.create_task(self._reader.read(1))
        done, _ = await asyncio.wait([listening], timeout=0.2)
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)
        return not done

    def end(self) -> None:
        self._writer.write_eof()

    def leave(self) -> None:
        self._writer.transport.abort()


class Server:
    """Takes connections, and lets the test be the server's end of each."""

    def __init__(self) -> None:
        self.taken: asyncio.Queue[End] = asyncio.Queue()
        self.port = 0

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self.taken.put(End(reader, writer))


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    listening = Server()
    opened = await asyncio.start_server(listening.take, "127.0.0.1", 0)
    listening.port = opened.sockets[0].getsockname()[1]
    yield listening
    opened.close()


@pytest.fixture
async def line(server: Server) -> AsyncIterator[Wire]:
    async with wire(server.port) as running:
        yield running


async def connected(line: Wire, server: Server) -> tuple[End, End]:
    """A client's end and the server's."""
    client = End(*await asyncio.open_connection("127.0.0.1", line.port))
    return client, await asyncio.wait_for(server.taken.get(), 20)


@pytest.fixture
async def ends(line: Wire, server: Server) -> AsyncIterator[tuple[End, End]]:
    """A connection over which a word has gone each way."""
    client, served = await connected(line, server)
    client.say(b"hello")
    assert await served.hear(5) == b"hello"
    served.say(b"hello")
    assert await client.hear(5) == b"hello"
    yield client, served
    client.leave()
    served.leave()


Ends = tuple[End, End]


async def test_everything_is_carried_and_counted(line: Wire, ends: Ends) -> None:
    client, served = ends
    much = bytes(range(256)) * 4000
    client.say(much)
    assert await served.hear(len(much)) == much
    served.say(b"so much")
    assert await client.hear(7) == b"so much"
    assert line.carried == {"up": 5 + len(much), "down": 5 + 7}


async def test_an_end_is_carried_one_way_at_a_time(line: Wire, ends: Ends) -> None:
    client, served = ends
    client.end()
    assert await served.hear(1) == b""
    served.say(b"last")
    served.end()
    assert await client.hear(9) == b"last"
    await until(lambda: len(line) == 0)


async def test_a_client_that_breaks_off_breaks_the_servers_end(line: Wire, ends: Ends) -> None:
    client, served = ends
    client.leave()
    assert await served.hear(1) == b""
    served.leave()
    await until(lambda: len(line) == 0)


async def test_a_cut_is_a_reset_at_both_ends_and_new_connections_work(
    line: Wire, server: Server, ends: Ends
) -> None:
    line.cut()
    for end in ends:
        with pytest.raises(ConnectionResetError):
            await end.hear(1)
    again, served = await connected(line, server)
    again.say(b"again")
    assert await served.hear(5) == b"again"
    again.leave()
    served.leave()


async def test_what_is_held_back_comes_later_and_in_order(
    line: Wire, server: Server, ends: Ends
) -> None:
    client, served = ends
    line.hold()
    client.say(b"one ")
    served.say(b"two")
    client.say(b"three")
    client.end()
    assert await served.hears_nothing()
    assert await client.hears_nothing()
    late, served_late = await connected(line, server)
    late.say(b"late")
    assert await served_late.hears_nothing()
    line.release()
    assert await served.hear(99) == b"one three"
    assert await client.hear(3) == b"two"
    assert await served_late.hear(4) == b"late"
    late.leave()
    served_late.leave()


async def test_a_half_open_connection_takes_everything_and_tells_nothing(
    line: Wire, server: Server, ends: Ends
) -> None:
    client, served = ends
    line.swallow()
    served.say(b"x" * 10_000_000)
    client.say(b"are you there?")
    client.leave()
    assert await served.hears_nothing()
    line.release()
    served.say(b"back?")
    assert await served.hears_nothing()
    assert line.carried == {"up": 5, "down": 5}
    another, heard = await connected(line, server)
    another.say(b"hello")
    assert await heard.hear(5) == b"hello"
    line.cut()
    with pytest.raises(ConnectionResetError):
        await served.hear(1)
    another.leave()
    heard.leave()


async def test_a_trickle_brings_a_little_at_a_time(line: Wire, ends: Ends) -> None:
    client, served = ends
    line.trickle(2, 3600)
    client.say(b"slowly")
    assert await served.hear(2) == b"sl"
    assert await served.hears_nothing()
    line.release()
    assert await served.hear(4) == b"owly"


async def test_where_no_server_listens_the_client_is_turned_away() -> None:
    async with wire(free_port()) as line:
        reader, writer = await asyncio.open_connection("127.0.0.1", line.port)
        with pytest.raises(ConnectionResetError):
            await asyncio.wait_for(reader.read(1), 20)
        writer.transport.abort()
