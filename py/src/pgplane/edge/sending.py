"""Sending: a response to a client that may take its time, or go."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from starlette.responses import Response
from starlette.types import Message, Receive, Send


async def send_within(send: Send, message: Message, seconds: float) -> None:
    """Send a part of a response; raises TimeoutError where the client does not take it."""
    async with asyncio.timeout(seconds):
        await send(message)


async def send_start(send: Send, response: Response, seconds: float) -> None:
    """Send what comes before the body; raises TimeoutError."""
    start = {"status": response.status_code, "headers": response.raw_headers}
    await send_within(send, {"type": "http.response.start", **start}, seconds)


@contextmanager
def watched(receive: Receive, on_gone: Callable[[], None]) -> Iterator[None]:
    """Call `on_gone` once the client has gone, unless the block is left before."""

    async def watch() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        on_gone()

    watcher = asyncio.create_task(watch(), name="client-watch")
    try:
        yield
    finally:
        watcher.cancel()
