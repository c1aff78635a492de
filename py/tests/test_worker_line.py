"""The line: one connection, calls in turn, opened again when it broke."""

import asyncio
from collections.abc import AsyncIterator

import psycopg
import pytest

from pgplane import session
from pgplane.errors import LedgerError, Unavailable, ledger_errors
from pgplane.worker.line import Line


@pytest.fixture
async def line(queue_db: str) -> AsyncIterator[Line]:
    opened = Line(queue_db, application_name="test line", seconds=20)
    yield opened
    await opened.close()


async def pid(connection: session.Connection) -> int:
    return connection.info.backend_pid


async def run(connection: session.Connection, statement: str) -> None:
    with ledger_errors():
        await connection.execute(statement.encode())


async def test_calls_share_one_warm_connection(line: Line) -> None:
    pids = await asyncio.gather(*(line.call(pid) for _ in range(5)))
    assert len(set(pids)) == 1


async def test_a_refusal_keeps_the_connection(line: Line) -> None:
    before = await line.call(pid)
    with pytest.raises(LedgerError):
        await line.call(run, "select 1/0")
    assert await line.call(pid) == before


async def test_a_broken_connection_is_opened_again(line: Line, queue_db: str) -> None:
    before = await line.call(pid)
    with psycopg.connect(queue_db, autocommit=True) as other:
        other.execute("select pg_terminate_backend(%s, 10000)", [before])
    with pytest.raises(Unavailable):
        await line.call(run, "select 1")
    assert await line.call(pid) != before


async def test_a_call_that_takes_too_long_is_cancelled(queue_db: str) -> None:
    line = Line(queue_db, application_name="test line", seconds=0.3)
    before = await line.call(pid)
    with pytest.raises(Unavailable, match=r"no answer within 0\.3 s"):
        await line.call(run, "select pg_sleep(60)")
    assert await line.call(pid) != before
    await line.close()


async def test_nobody_there_is_an_outage() -> None:
    line = Line("postgresql://nobody@127.0.0.1:1/nowhere", application_name="test line")
    with pytest.raises(Unavailable):
        await line.call(pid)
