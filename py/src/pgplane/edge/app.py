"""The app: the edge put together from its settings."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles

from pgplane import logs
from pgplane.edge.access.access import Access
from pgplane.edge.access.auth import Verifier
from pgplane.edge.access.scopes import ScopeKeys
from pgplane.edge.access.tickets import SharedTickets
from pgplane.edge.admission import Admission
from pgplane.edge.blobs.reading import Blobs
from pgplane.edge.checking.checks import Checks
from pgplane.edge.database import QueueDatabase
from pgplane.edge.edge import Edge
from pgplane.edge.health import Readiness
from pgplane.edge.manifests.manifests import Manifests
from pgplane.edge.problems import Boundary, Problem, answer
from pgplane.edge.replies.pump import CHANNELS, ReplyPump
from pgplane.edge.replies.streams import Streams
from pgplane.edge.routes import ROUTES
from pgplane.errors import LedgerError
from pgplane.listener import Listener
from pgplane.settings import Settings

log = logs.get("edge")


def create_app(settings: Settings, static_dir: Path | None = None) -> Starlette:
    """The edge as an ASGI application; its parts are at `app.state.edge`.

    `static_dir`: files served at `/`. Raises KeyConfigurationError for `PLANE_JWT_*` settings that
    cannot work; a missing queue database is no error, but 503 to whoever asks.
    """
    database = QueueDatabase(settings.queue_url, settings.pool_size)
    streams = Streams(heartbeat=settings.stream_heartbeat_seconds)
    lines = max(1, settings.pool_size // 4)
    pump = ReplyPump(database, settings.sweep_seconds, lines=lines)
    listener = _listener(settings, pump)
    checks = Checks()
    verifier = Verifier.from_settings(settings)
    tickets = SharedTickets(database, settings.ticket_key, settings.stream_seconds)
    edge = Edge(
        settings=settings,
        database=database,
        access=Access(verifier, tickets, ScopeKeys(database), settings.surfaces_tier),
        tickets=tickets,
        manifests=Manifests(database, checks),
        admission=Admission.from_settings(settings),
        blobs=Blobs(database, settings.pool_size),
        pump=pump,
        streams=streams,
        readiness=Readiness(database, listener, streams),
    )
    if not (settings.jwt_key or settings.jwt_jwks_url):
        log.warning("edge.no_token_key", hint="set PLANE_JWT_KEY or PLANE_JWT_JWKS_URL")

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            await database.open()
            stack.push_async_callback(database.close)
            stack.push_async_callback(verifier.close)
            stack.push_async_callback(checks.close)
            for work in (pump.run, pump.sweep, streams.beat):
                task = asyncio.create_task(_for_ever(work), name=work.__qualname__)
                stack.push_async_callback(_stop, task)
            if listener is not None:
                await listener.start()
                stack.push_async_callback(listener.stop)
            yield

    routes: list[BaseRoute] = [*ROUTES]
    if static_dir is not None:
        routes.append(Mount("/", StaticFiles(directory=static_dir, html=True)))
    app = Starlette(
        routes=routes,
        middleware=[Middleware(Boundary)],
        exception_handlers=dict.fromkeys((Problem, LedgerError, HTTPException), answer),
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    app.state.edge = edge
    return app


def _listener(settings: Settings, pump: ReplyPump) -> Listener | None:
    if settings.listen_dsn is None:
        return None
    return Listener(
        settings.listen_dsn,
        CHANNELS,
        on_notification=pump.notified,
        on_connect=pump.read_all,
        application_name="pgplane edge listener",
    )


async def _for_ever(work: Callable[[], Awaitable[None]]) -> None:
    """Begin again after a fault that nobody foresaw: streams must not go deaf for it."""
    while True:
        try:
            await work()
        except Exception:
            log.exception("edge.background_crashed")
            await asyncio.sleep(1)


async def _stop(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
