"""Boot: what a worker must be told and given before it claims anything."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from pgplane import logs, rights, session
from pgplane.errors import Busy, Unavailable, ledger_errors
from pgplane.settings import Settings
from pgplane.surface import Surface

R = TypeVar("R")
SHOWN = 5
RETRY_SECONDS = (2.0, 5.0)

log = logs.get("worker")


class BootRefusedError(Exception):
    """The worker must not start like this; the message says what to change."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where a worker works: its queue, the queue database, the client database."""

    queue: str
    queue_url: str
    listen_url: str
    client_url: str


def places(settings: Settings) -> Places:
    """What no worker can do without. Raises BootRefusedError, naming the settings to make."""
    queue, queue_url, client_url = settings.queue, settings.queue_url, settings.client_url
    if not (queue and queue_url and client_url):
        needed = {
            "PLANE_QUEUE_URL (DSN of the queue database, as a plane_worker)": queue_url,
            "PLANE_QUEUE (the queue to drain, e.g. surface-flights)": queue,
            "PLANE_CLIENT_URL (DSN of the client database, as a reader of it)": client_url,
        }
        raise BootRefusedError("set " + ", ".join(name for name in needed if not needed[name]))
    return Places(queue, queue_url, settings.listen_url or queue_url, client_url)


def refuse_another_queue(queue: str, surface: Surface) -> None:
    """Raise BootRefusedError unless the queue is the surface's own, in one tier or another.

    Its operations would be registered there, for everybody who asks the other surface.
    """
    if not surface.answers(queue):
        raise BootRefusedError(
            f"PLANE_QUEUE is {queue!r}, and the surface {surface.name!r} answers {surface.queue!r}"
            f" or a tier of it, such as '{surface.queue}-dev'"
        )


async def refuse_writers(client_url: str) -> None:
    """Raise BootRefusedError, with the REVOKE to run, if the client credential may write."""

    async def probe() -> list[rights.Writable]:
        with ledger_errors():
            connection = await session.connect(client_url, application_name="pgplane boot check")
            async with connection:
                return await rights.writable(connection)

    found = await until_reachable("client database", probe)
    if found:
        shown = "; ".join(one.right for one in found[:SHOWN])
        remedies = " ".join(f"{one.remedy};" for one in found[:SHOWN])
        more = f" And {len(found) - SHOWN} more." if len(found) > SHOWN else ""
        raise BootRefusedError(
            f"the login of PLANE_CLIENT_URL can write: {shown}.{more}"
            f" A worker takes a read-only login. Run: {remedies}"
        )


async def until_reachable(what: str, attempt: Callable[[], Awaitable[R]]) -> R:
    """Do something with a database that may still be starting: try again while it is."""
    pauses = iter(RETRY_SECONDS)
    while True:
        try:
            return await attempt()
        except (Unavailable, Busy) as error:
            pause = next(pauses, RETRY_SECONDS[-1])
            reason = str(error.__cause__ or error).strip()
            log.warning("worker.waiting", waiting_for=what, reason=reason, retry_seconds=pause)
            await asyncio.sleep(pause)
