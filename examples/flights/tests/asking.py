"""How a test asks: as the worker does, for one of four callers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson
from pgplane.client import write_csv
from pgplane.surface import BlobRef, Envelope
from psycopg import AsyncConnection

from flights.operations import surface

Client = AsyncConnection[Any]
Rows = list[dict[str, Any]]

EVERYTHING = Envelope(client="northwind", scope=("EWR", "JFK", "LGA"))
LGA_ONLY = Envelope(client="northwind", scope=("LGA",))
STAFF = Envelope(client="northwind", scope=("EWR",), staff=True)
ELSEWHERE = Envelope(client="northwind", scope=("LAX",))


@dataclass
class Kept:
    """A `Work` that keeps what is written and told."""

    content_type: str = ""
    filename: str | None = None
    content: bytearray = field(default_factory=bytearray)
    told: list[tuple[int, int | None]] = field(default_factory=list)

    @property
    def ref(self) -> BlobRef:
        return {"blobRef": {"filename": self.filename, "size": len(self.content)}}

    async def write(self, data: bytes) -> None:
        self.content += data

    def progress(self, done: int, total: int | None = None, message: str | None = None) -> None:
        self.told.append((done, total))

    @asynccontextmanager
    async def blob(self, content_type: str, filename: str | None = None) -> AsyncIterator[Kept]:
        self.content_type, self.filename = content_type, filename
        yield self

    async def copy_csv(
        self,
        client: Client,
        query: str,
        values: Sequence[object] | Mapping[str, object] | None,
        filename: str,
    ) -> BlobRef:
        async with self.blob("text/csv", filename):
            await write_csv(client, query, values, self.write)
        return self.ref


async def result(
    client: Client, who: Envelope, name: str, params: Mapping[str, Any], work: Kept | None = None
) -> Any:
    """What the worker does with a question: validate, gates, handler."""
    operation = surface.get(name, 1)
    assert operation is not None
    asked = operation.params.model_validate(params)

    async def lend() -> Client:
        return client

    await operation.check(asked, who, lend)
    answer = await operation.answer(asked, who, client, work or Kept())
    return orjson.loads(bytes(answer)) if isinstance(answer, bytes) else answer


async def ask(client: Client, who: Envelope, name: str, params: Mapping[str, Any]) -> Rows:
    """The rows of an answer."""
    rows = (await result(client, who, name, params))["rows"]
    assert isinstance(rows, list)
    return rows
