"""The listener: it proves that notifications come back, and comes back itself."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from pgplane.listener import Listener, OnNotification

from ..support.postgres import for_role

PATIENCE = 20.0


class Ears:
    """What a listener calls back."""

    def __init__(self) -> None:
        self.heard: asyncio.Queue[tuple[str, str]] = asyncio.Queue()
        self.connected: asyncio.Queue[None] = asyncio.Queue()

    def on_notification(self, channel: str, payload: str) -> None:
        self.heard.put_nowait((channel, payload))

    def on_connect(self) -> None:
        self.connected.put_nowait(None)

    async def next(self) -> tuple[str, str]:
        return await asyncio.wait_for(self.heard.get(), PATIENCE)

    async def connection(self) -> None:
        await asyncio.wait_for(self.connected.get(), PATIENCE)


@pytest.fixture
def ears() -> Ears:
    return Ears()


@asynccontextmanager
async def listening(
    url: str,
    ears: Ears,
    probe_seconds: float = 15,
    answer_seconds: float = 5,
    on_notification: OnNotification | None = None,
) -> AsyncIterator[Listener]:
    listener = Listener(
        url,
        ["plane_ready"],
        on_notification=on_notification or ears.on_notification,
        on_connect=ears.on_connect,
        reconnect_seconds=(0.01, 0.02),
        probe_seconds=probe_seconds,
        answer_seconds=answer_seconds,
    )
    await listener.start()
    try:
        yield listener
    finally:
        await listener.stop()


def notify(url: str, channel: str, payload: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("select pg_notify(%s, %s)", [channel, payload])


def cut(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        ended = connection.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where application_name = 'pgplane listener' and datname = current_database()"
        ).fetchall()
    assert len(ended) == 1


async def test_it_is_ready_when_its_own_notification_came_back(queue_db: str, ears: Ears) -> None:
    async with listening(queue_db, ears) as listener:
        await ears.connection()
        assert listener.ready
        assert listener.reason is None
    assert not listener.ready
    assert listener.reason == "stopped"


async def test_notifications_arrive_in_order_its_own_proof_does_not(
    queue_db: str, ears: Ears
) -> None:
    async with listening(queue_db, ears):
        await ears.connection()
        for number in range(5):
            notify(queue_db, "plane_ready", str(number))
        notify(queue_db, "plane_other", "not asked for")
        notify(queue_db, "plane_ready", "last")
        heard = [await ears.next() for _ in range(6)]
    assert heard == [("plane_ready", payload) for payload in ("0", "1", "2", "3", "4", "last")]


async def test_it_reconnects_and_says_so(queue_db: str, ears: Ears) -> None:
    async with listening(queue_db, ears) as listener:
        for number in range(3):
            await ears.connection()
            assert listener.ready
            notify(queue_db, "plane_ready", str(number))
            assert await ears.next() == ("plane_ready", str(number))
            cut(queue_db)
        await ears.connection()


async def test_a_callback_that_fails_does_not_end_it(queue_db: str, ears: Ears) -> None:
    def stumble(channel: str, payload: str) -> None:
        ears.on_notification(channel, payload)
        if payload == "stone":
            raise ValueError(payload)

    async with listening(queue_db, ears, on_notification=stumble):
        await ears.connection()
        notify(queue_db, "plane_ready", "stone")
        assert await ears.next() == ("plane_ready", "stone")
        await ears.connection()
        notify(queue_db, "plane_ready", "on")
        assert await ears.next() == ("plane_ready", "on")


async def test_it_says_why_it_cannot_listen(queue_db: str, ears: Ears) -> None:
    async with listening(for_role(queue_db, "nobody_at_all"), ears) as listener:
        assert not await listener.wait_ready(0.2)
        assert listener.reason is not None
        assert 'role "nobody_at_all" does not exist' in listener.reason


class Wire:
    """A TCP line to the server that can be frozen: bytes are taken, none go on."""

    def __init__(self, url: str) -> None:
        at = conninfo_to_dict(url)
        self._server_at = str(at["host"]), int(str(at["port"]))
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._pumps: set[asyncio.Task[None]] = set()
        self.accepted: asyncio.Queue[None] = asyncio.Queue()

    async def open(self) -> int:
        self._listening = await asyncio.start_server(self._carry, "127.0.0.1", 0)
        return int(self._listening.sockets[0].getsockname()[1])

    def freeze(self) -> None:
        self._flowing.clear()

    def thaw(self) -> None:
        self._flowing.set()

    async def close(self) -> None:
        self._listening.close()
        for pump in self._pumps:
            pump.cancel()
        await asyncio.gather(*self._pumps, return_exceptions=True)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted.put_nowait(None)
        server_reader, server_writer = await asyncio.open_connection(*self._server_at)
        for source, sink in ((reader, server_writer), (server_reader, writer)):
            pump = asyncio.create_task(self._pump(source, sink))
            self._pumps.add(pump)

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        try:
            while data := await source.read(65536):
                await self._flowing.wait()
                sink.write(data)
                await sink.drain()
        except ConnectionError:
            pass
        finally:
            sink.close()


async def test_a_line_that_went_silent_is_found_out(queue_db: str, ears: Ears) -> None:
    wire = Wire(queue_db)
    port = await wire.open()
    at = conninfo_to_dict(queue_db)
    url = f"postgresql://{at['user']}@127.0.0.1:{port}/{at['dbname']}?sslmode=disable"
    try:
        async with listening(url, ears, probe_seconds=0.05, answer_seconds=0.5) as listener:
            await ears.connection()
            await wire.accepted.get()
            wire.freeze()
            await asyncio.wait_for(wire.accepted.get(), PATIENCE)
            assert listener.reason == "the connection went silent"
            wire.thaw()
            await ears.connection()
            notify(queue_db, "plane_ready", "heard again")
            assert await ears.next() == ("plane_ready", "heard again")
    finally:
        await wire.close()
