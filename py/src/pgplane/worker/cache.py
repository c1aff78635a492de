"""The cache: answers kept for a while, dropped by tag, computed once.

Everything here runs on one event loop and takes no lock.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from itertools import count
from typing import Generic, TypeVar

from cachetools import FIFOCache

V = TypeVar("V")
MARKS = 1000
"""How many dropped tags are remembered one by one."""


@dataclass(frozen=True, slots=True)
class _Entry(Generic[V]):
    value: V
    size: int
    expires_at: float
    tags: tuple[str, ...]
    as_of: int


class TtlCache(Generic[V]):
    """At most `entries` values and `capacity` bytes, the oldest out first, each until its own time
    to live ends. `size` tells the bytes of a value.

    `invalidate(tag)` costs the same however many entries carry the tag: it notes when the tag was
    last dropped, and entries computed before that are no longer served. A value is stored `as_of`
    the moment its computation began, so one computed before an invalidation is not stored after it,
    nor one in place of a value whose computation began later.
    """

    def __init__(
        self,
        entries: int = 500,
        *,
        capacity: int = 64 * 1024 * 1024,
        size: Callable[[V], int] = lambda _: 1,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most = entries
        self._capacity = capacity
        self._size = size
        self._entries: FIFOCache[str, _Entry[V]] = FIFOCache(capacity, lambda entry: entry.size)
        self._clock = clock
        self._ticks = count(1)
        self._dropped: dict[str, int] = {}
        self._since = 0

    def as_of(self) -> int:
        """A mark of this moment, to be taken before a value is computed."""
        return next(self._ticks)

    def get(self, key: str) -> V | None:
        """The value, unless it is unknown, expired or invalidated."""
        entry: _Entry[V] | None = self._entries.get(key)
        if entry is None:
            return None
        if self._clock() < entry.expires_at and self._current(entry.tags, entry.as_of):
            return entry.value
        del self._entries[key]
        return None

    def put(self, key: str, value: V, *, ttl: float, tags: Iterable[str], as_of: int) -> bool:
        """Keep a value for `ttl` seconds; False where it is not kept: no ttl, out of date, or
        larger than the whole cache may be."""
        tags, size = tuple(tags), self._size(value)
        if ttl <= 0 or self._most < 1 or size > self._capacity:
            return False
        if as_of < self._since or not self._current(tags, as_of):
            return False
        kept: _Entry[V] | None = self._entries.get(key)
        if kept is not None and kept.as_of > as_of and self._clock() < kept.expires_at:
            return False
        self._entries.pop(key, None)
        while len(self._entries) >= self._most:
            self._entries.popitem()
        self._entries[key] = _Entry(value, size, self._clock() + ttl, tags, as_of)
        return True

    def drop(self, key: str, value: V) -> None:
        """Drop this value, where it is still the one that is kept."""
        entry: _Entry[V] | None = self._entries.get(key)
        if entry is not None and entry.value is value:
            del self._entries[key]

    def invalidate(self, tag: str) -> None:
        """Drop every entry with this tag, and those being computed now."""
        self._dropped[tag] = next(self._ticks)
        if len(self._dropped) > MARKS:
            self._forget()

    @property
    def marks(self) -> int:
        """How many dropped tags are remembered now."""
        return len(self._dropped)

    def _forget(self) -> None:
        """Do at once what the marks ask for, and need none of them any more.

        Whatever is being computed now is not kept then, as if each of its tags had been dropped.
        """
        for key, entry in list(self._entries.items()):
            if not self._current(entry.tags, entry.as_of):
                del self._entries[key]
        self._dropped.clear()
        self._since = next(self._ticks)

    def _current(self, tags: tuple[str, ...], as_of: int) -> bool:
        return all(self._dropped.get(tag, 0) <= as_of for tag in tags)


class SingleFlight(Generic[V]):
    """One computation per key at a time; who asks meanwhile shares its value.

    An error is not shared: a leader that fails leaves the others to compute for themselves, again
    one of them first. So does one that is cancelled, at once: it may be deaf to that. A value that
    has a future, by `settling`, is shared until that is done; who shares it waits for himself, and
    asks again where it comes out false.
    """

    def __init__(
        self, settling: Callable[[V], asyncio.Future[bool] | None] = lambda _: None
    ) -> None:
        self._settling = settling
        self._flights: dict[str, tuple[asyncio.Future[V | None], bool]] = {}

    async def run(
        self, key: str, compute: Callable[[], Awaitable[V]], *, fresh: bool = False
    ) -> tuple[V, bool]:
        """The value, and whether it is another caller's. `fresh` joins none but fresh ones."""
        while (flight := self._flights.get(key)) and (flight[1] or not fresh):
            value = await asyncio.shield(flight[0])
            if value is not None and not self._is_refuted(value):
                return value, True
            self._end(key, flight)
        landing: asyncio.Future[V | None] = asyncio.get_running_loop().create_future()
        mine = self._flights[key] = (landing, fresh)
        computation = asyncio.ensure_future(compute())
        try:
            value = await asyncio.shield(computation)
        except BaseException:
            self._end(key, mine)
            landing.set_result(None)
            computation.cancel()  # nothing where it is the one that failed
            return await computation, False
        settling = self._settling(value)
        if settling is None or settling.done():
            self._end(key, mine)
        else:
            settling.add_done_callback(lambda _: self._end(key, mine))
        landing.set_result(value)
        return value, False

    def _end(self, key: str, flight: tuple[asyncio.Future[V | None], bool]) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]

    def _is_refuted(self, value: V) -> bool:
        settling = self._settling(value)
        return settling is not None and settling.done() and not settling.result()
