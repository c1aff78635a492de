"""Manifests: the operations of each surface, as the queue database had them a moment ago."""

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pgplane import ledger
from pgplane.edge.checking.checks import Checks, Schema
from pgplane.edge.checking.wording import Wrong
from pgplane.edge.database import QueueDatabase
from pgplane.edge.questions import Question
from pgplane.errors import LedgerError
from pgplane.ledger.records import ManifestEntry

KEEP_SECONDS = 10.0
"""How old a copy may be."""
SURE_SECONDS = 1.0
"""How old a copy may be by which a question is refused."""


@dataclass(frozen=True, slots=True)
class Offer:
    """One version of an operation, and the schema of its params."""

    operation: ManifestEntry
    schema: Schema


class Manifest:
    """A surface's operations, every version of each, as they were at `as_of` or a little later."""

    def __init__(self, as_of: float, offers: Iterable[Offer]) -> None:
        self.as_of = as_of
        self.offers = tuple(offers)
        self._by_version = {(one.operation.name, one.operation.version): one for one in self.offers}
        self._newest: dict[str, Offer] = {}
        for one in sorted(self.offers, key=lambda one: one.operation.version):
            self._newest[one.operation.name] = one

    def find(self, name: str, version: int | None) -> Offer | None:
        """The operation of exactly this version; without one, the newest."""
        if version is None:
            return self._newest.get(name)
        return self._by_version.get((name, version))

    async def faults(self, question: Question) -> list[Wrong]:
        """What is wrong with a question's params; of an operation that is not here, nothing."""
        offer = self.find(question.operation, question.version)
        return [] if offer is None else await offer.schema.faults(question.params)


class Manifests:
    """A copy of each surface's manifest; one fetch at a time of each."""

    def __init__(
        self,
        database: QueueDatabase,
        checks: Checks,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._database = database
        self._checks = checks
        self._clock = clock
        self._copies: dict[str, Manifest] = {}
        self._fetches: dict[str, asyncio.Task[Manifest]] = {}

    async def get(self, queue: str, seconds: float = KEEP_SECONDS) -> Manifest:
        """The manifest of a queue's surface, at most so many seconds old when it was asked for.

        Raises LedgerError: NotFound, NotReady, or trouble with the database.
        """
        oldest = self._clock() - seconds
        copy = self._copies.get(queue)
        while copy is None or copy.as_of < oldest:
            # A fetch that somebody else began may be too old for us, the next one is not.
            copy = await self._fetched(queue)
        return copy

    async def faults(self, queue: str, question: Question) -> list[Wrong]:
        """What is surely wrong with a question's params, by a copy that is no older than
        SURE_SECONDS. What cannot be known just now is not wrong: the ledger and the worker see
        the question, too."""
        try:
            copy = await self.get(queue)
            found = await copy.faults(question)
            if not found or (sure := await self.get(queue, SURE_SECONDS)) is copy:
                return found
            return await sure.faults(question)
        except LedgerError:
            return []

    async def _fetched(self, queue: str) -> Manifest:
        fetch = self._fetches.get(queue)
        if fetch is None:
            fetch = asyncio.create_task(self._fetch(queue), name=f"manifest {queue}")
            fetch.add_done_callback(lambda _: self._fetches.pop(queue, None))
            self._fetches[queue] = fetch
        return await asyncio.shield(fetch)

    async def _fetch(self, queue: str) -> Manifest:
        as_of = self._clock()
        operations = await self._database.call(ledger.get_manifest, queue)
        before = self._copies.get(queue)
        offers = (self._offer(queue, operation, before) for operation in operations)
        self._copies[queue] = Manifest(as_of, offers)
        return self._copies[queue]

    def _offer(self, queue: str, operation: ManifestEntry, before: Manifest | None) -> Offer:
        """What is as it was before keeps its schema, and what is known of it."""
        name, version, text = operation.name, operation.version, operation.params_schema
        known = before and before.find(name, version)
        if known and known.operation.params_schema == text:
            return Offer(operation, known.schema)
        whose = {"queue": queue, "operation": name, "version": version}
        return Offer(operation, Schema(text, self._checks, **whose))
