"""Turns: so many at a time, and callers one after another, however much one of them wants."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pgplane.errors import Busy

WAIT_SECONDS = 5.0
"""How long one may wait for a turn."""


class Turns:
    """Whoever has a turn may go on; each one that ends goes on to the next caller in line."""

    def __init__(self, count: int) -> None:
        self._free = count
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @asynccontextmanager
    async def of(self, name: str) -> AsyncIterator[None]:
        """A turn of the caller of this name; raises Busy where there is none for too long."""
        await self._begin(name)
        try:
            yield
        finally:
            self._end()

    async def _begin(self, name: str) -> None:
        if self._free:
            self._free -= 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(name, deque()).append(turn)
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await turn
        except BaseException as error:
            if turn.done() and not turn.cancelled():  # it came when nobody waited any more
                self._end()
            if isinstance(error, TimeoutError):
                raise Busy("there are too many questions") from None
            raise

    def _end(self) -> None:
        while self._waiting:
            name, turns = self._waiting.popitem(last=False)
            turn = turns.popleft()
            while turn.done() and turns:  # who waited for it has gone
                turn = turns.popleft()
            if turns:
                self._waiting[name] = turns
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1
