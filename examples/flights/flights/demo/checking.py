"""Compare answers with the client database itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, LiteralString

from psycopg import AsyncConnection

from flights.demo.asking import Reply
from flights.demo.questions import Question, Refused, Rows


class Checker:
    """Runs the statements that answers are compared with."""

    def __init__(self, client: AsyncConnection[Any]) -> None:
        """`client`: a connection to the client database that sees all of it."""
        self._client = client

    async def rows(self, query: LiteralString, values: Mapping[str, object] | None = None) -> Rows:
        """The rows of a statement, as PostgreSQL prints them in JSON."""
        cursor = await self._client.execute(
            "select coalesce(json_agg(answer), '[]')::text from (" + query + ") as answer", values
        )
        row = await cursor.fetchone()
        assert row is not None  # an aggregate without GROUP BY has one row
        rows: Rows = json.loads(row[0])
        return rows

    async def csv(self, query: LiteralString, values: Mapping[str, object]) -> bytes:
        """The rows of a statement, as PostgreSQL writes them in CSV."""
        statement = f"copy ({query}) to stdout (format csv, header)"
        async with self._client.cursor() as cursor, cursor.copy(statement, values) as copy:
            return b"".join([bytes(piece) async for piece in copy])

    async def fault(self, question: Question, reply: Reply) -> str | None:
        """What is wrong with a reply; None where nothing is."""
        if isinstance(question.expects, Refused):
            return refusal_fault(question.expects, reply)
        if question.expects.cached and reply.cache != "hit":
            return f"not from the cache (cache: {reply.cache})"
        return answer_fault(await self.rows(question.expects.sql), reply)


def answer_fault(right: Rows, reply: Reply) -> str | None:
    """What is wrong with an answer, which should have these rows."""
    if reply.rows is None:
        return f"refused: {reply.problem}"
    return rows_fault(right, reply.rows)


def rows_fault(right: Rows, got: Rows) -> str | None:
    """The first difference between two lists of rows, in words."""
    if len(got) != len(right):
        return f"{len(got)} rows where the database has {len(right)}"
    for number, (a, b) in enumerate(zip(got, right, strict=True), start=1):
        if a != b:
            names = [name for name in a.keys() | b.keys() if a.get(name) != b.get(name)]
            name = min(names, default="the columns")
            return f"row {number}: {name} is {a.get(name)!r}, the database has {b.get(name)!r}"
    return None


def refusal_fault(expected: Refused, reply: Reply) -> str | None:
    """What is wrong with a refusal."""
    if reply.problem is None:
        return f"answered with {len(reply.rows or [])} rows where {expected.status} was due"
    got = reply.problem.get("status"), reply.problem.get("code")
    if got != (expected.status, expected.code):
        return f"refused with {got[0]} {got[1]} where {expected.status} {expected.code} was due"
    return None
