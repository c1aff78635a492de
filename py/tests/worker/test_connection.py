"""The warm connection: calls one after another, opened again when it broke."""

import asyncio
from collections.abc import AsyncIterator

import psycopg
import pytest

from pgplane import session
from pgplane.errors import LedgerError, Unavailable, ledger_errors
from pgplane.worker.connection import WarmConnection


@pytest.fixture
async def warm(queue_db: str) -> AsyncIterator[WarmConnection]:
    opened = WarmConnection(queue_db, application_name="test", seconds=20)
    yield opened
    await opened.close()


async def pid(connection: session.Connection) -> int:
    return connection.info.backend_pid


async def run(connection: session.Connection, statement: str) -> None:
    with ledger_errors():
        await connection.execute(statement.encode())


async def test_calls_share_one_warm_connection(warm: WarmConnection) -> None:
    pids = await asyncio.gather(*(warm.call(pid) for _ in range(5)))
    assert len(set(pids)) == 1


async def test_a_refusal_keeps_the_connection(warm: WarmConnection) -> None:
    before = await warm.call(pid)
    with pytest.raises(LedgerError):
        await warm.call(run, "select 1/0")
    assert await warm.call(pid) == before


async def test_a_broken_connection_is_opened_again(warm: WarmConnection, queue_db: str) -> None:
    before = await warm.call(pid)
    with psycopg.connect(queue_db, autocommit=True) as other:
        other.execute("select pg_terminate_backend(%s, 10000)", [before])
    with pytest.raises(Unavailable):
        await warm.call(run, "select 1")
    assert await warm.call(pid) != before


async def test_a_call_that_takes_too_long_is_cancelled(queue_db: str) -> None:
    warm = WarmConnection(queue_db, application_name="test", seconds=0.3)
    before = await warm.call(pid)
    with pytest.raises(Unavailable, match=r"no answer within 0\.3 s"):
        await warm.call(run, "select pg_sleep(60)")
    assert await warm.call(pid) != before
    await warm.close()


async def test_nobody_there_is_an_outage() -> None:
    warm = WarmConnection("postgresql://nobody@127.0.0.1:1/nowhere", application_name="test")
    with pytest.raises(Unavailable):
        await warm.call(pid)


async def test_to_close_waits_for_the_call_in_progress_and_none_behind_it(
    warm: WarmConnection,
) -> None:
    await warm.call(pid)
    under_way, may_end = asyncio.Event(), asyncio.Event()

    async def held(_: session.Connection) -> str:
        under_way.set()
        await may_end.wait()
        return "heard"

    first = asyncio.create_task(warm.call(held))
    await under_way.wait()
    behind = [asyncio.create_task(warm.call(pid)) for _ in range(3)]
    closing = asyncio.create_task(warm.close())
    await asyncio.sleep(0)
    may_end.set()
    await closing
    assert await first == "heard"
    for call in behind:
        with pytest.raises(Unavailable, match="closed"):
            await call
