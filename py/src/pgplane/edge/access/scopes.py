"""Scope keys: what decides which callers share jobs, computed by the database and kept."""

from collections import OrderedDict

import orjson

from pgplane import ledger
from pgplane.edge.access.auth import Caller
from pgplane.edge.database import QueueDatabase

MAX_ENTRIES = 10_000


class ScopeKeys:
    """Each caller's scope keys, least recently used out first."""

    def __init__(self, database: QueueDatabase, size: int = MAX_ENTRIES) -> None:
        self._database = database
        self._size = size
        self._known: OrderedDict[tuple[object, ...], tuple[str, ...]] = OrderedDict()

    async def of(self, caller: Caller) -> tuple[str, ...]:
        """The keys (64 hex digits) of what this caller may see: shared, and the person's own."""
        identity = (caller.client, caller.scope, caller.staff, caller.actor)
        keys = self._known.get(identity)
        if keys is None:
            keys = await self._compute(caller)
            self._known[identity] = keys
            if len(self._known) > self._size:
                self._known.popitem(last=False)
        else:
            self._known.move_to_end(identity)
        return keys

    async def _compute(self, caller: Caller) -> tuple[str, ...]:
        scope = orjson.dumps(caller.scope).decode()
        actors = (None, caller.actor)
        return tuple(
            [
                await self._database.call(
                    ledger.scope_key, caller.client, scope, caller.staff, actor
                )
                for actor in actors
            ]
        )


def name_of(scope_keys: tuple[str, ...]) -> str:
    """What a caller is called among those who wait for a job: the key that is the person's own."""
    return scope_keys[-1]
