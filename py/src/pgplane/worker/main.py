"""The worker's process: boot checks, connections, signals, the loop, and an orderly end."""

import asyncio
import importlib
import os
import secrets
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack

import orjson

from pgplane import __version__, client_database, logs
from pgplane.errors import Forbidden, LedgerError, NotFound, NotMigrated
from pgplane.listener import Listener
from pgplane.settings import Settings
from pgplane.surface import Surface
from pgplane.worker.answers import Answer
from pgplane.worker.boot import (
    BootRefusedError,
    Places,
    places,
    refuse_another_queue,
    refuse_writers,
    until_reachable,
)
from pgplane.worker.cache import TtlCache
from pgplane.worker.connection import WarmConnection
from pgplane.worker.execution import Executor
from pgplane.worker.heartbeat import Heartbeat
from pgplane.worker.held import HeldJob
from pgplane.worker.loop import ClaimLoop
from pgplane.worker.settlement import Settlement
from pgplane.worker.telemetry import Send, Telemetry, to_ledger
from pgplane.worker.upkeep import Upkeep

UPKEEP_SECONDS = 600.0
"""How long a step of upkeep may take: it copies what stays of a range."""
FLUSH_SECONDS = 1.0
"""How long the telemetry of the last jobs may hold up the end."""

log = logs.get("worker")


def load_surface(path: str) -> Surface:
    """The Surface at `module:attribute`; the working directory counts. Raises BootRefusedError."""
    module, _, attribute = path.partition(":")
    if (here := os.getcwd()) not in sys.path:  # noqa: PTH109 - sys.path holds strings
        sys.path.insert(0, here)
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise BootRefusedError(
            f"no surface at {path!r} (module:attribute, e.g. flights.operations:surface): {error}"
        ) from error
    if not isinstance(found, Surface):
        raise BootRefusedError(f"{path!r} is a {type(found).__name__}, not a Surface")
    if not found.manifest():
        raise BootRefusedError(
            f"the surface at {path!r} has no operations: name it by a module that imports theirs"
        )
    return found


def run(settings: Settings, surface_path: str) -> None:
    """Run a worker until SIGTERM or SIGINT. Exits (SystemExit) with a line that says what to
    change where it must not start."""
    logs.configure(settings.log_level)
    try:
        where = places(settings)
        surface = load_surface(surface_path)
        refuse_another_queue(where.queue, surface)
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(_serve(settings, where, surface))
            if runner.run(_deaf_are_left()):
                os._exit(0)  # all is settled and said, and they would keep the loop for ever
    except BootRefusedError as refusal:
        log.error("worker.refused", reason=str(refusal))
        raise SystemExit(f"pgplane worker: {refusal}") from None


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


async def _serve(settings: Settings, where: Places, surface: Surface) -> None:
    signals = _Signals()
    try:
        await refuse_writers(where.client_url)
        async with AsyncExitStack() as stack:
            await _work(settings, where, surface, signals, stack)
    except asyncio.CancelledError:
        if not signals.came:
            raise
        log.info("worker.stopped", queue=where.queue)


async def _deaf_are_left() -> bool:
    """Whether handlers still run that ignore their cancellation."""
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    return bool(left and (await asyncio.wait(left, timeout=1))[1])


class _Signals:
    """SIGTERM and SIGINT: they end the boot; once there is a loop, they stop that."""

    def __init__(self) -> None:
        booting = asyncio.current_task()
        assert booting is not None  # noqa: S101 - a coroutine always has a task
        self.came = False
        self._act: Callable[[], object] = booting.cancel
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, self._on_signal)

    def now_call(self, act: Callable[[], object]) -> None:
        """What a signal does from now on."""
        self._act = act

    def _on_signal(self) -> None:
        self.came = True
        self._act()


async def _work(
    settings: Settings,
    where: Places,
    surface: Surface,
    signals: _Signals,
    stack: AsyncExitStack,
) -> None:
    worker = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(3)}"
    claims, settlements, beats, outputs = (
        WarmConnection(where.queue_url, application_name=f"pgplane worker {purpose}")
        for purpose in ("claims", "settlements", "heartbeat", "output")
    )
    rounds = WarmConnection(
        where.queue_url, application_name="pgplane worker upkeep", seconds=UPKEEP_SECONDS
    )
    for connection in (claims, settlements, beats, outputs, rounds):
        stack.push_async_callback(connection.close)
    pool = await stack.enter_async_context(
        client_database.pool(where.client_url, size=settings.concurrency)
    )
    cache: TtlCache[Answer] = TtlCache(
        settings.cache_entries, capacity=settings.cache_bytes, size=lambda answer: answer.size
    )
    held: dict[int, HeldJob] = {}
    heartbeat = Heartbeat(
        beats,
        worker=worker,
        queue=where.queue,
        info=_info(settings, surface),
        manifest=orjson.dumps(surface.manifest()).decode(),
        held=held,
        sweep_seconds=settings.sweep_seconds,
    )
    telemetry = _telemetry(settings, where, worker, stack)
    await _register(heartbeat, where.queue)
    loop = ClaimLoop(
        claims,
        worker=worker,
        queue=where.queue,
        executor=Executor(surface, pool, cache, outputs),
        settlement=Settlement(settlements),
        heartbeat=heartbeat,
        held=held,
        tell=telemetry.tell,
        concurrency=settings.concurrency,
        idle_seconds=settings.idle_ms / 1000,
        grace_seconds=settings.grace_seconds,
    )
    listener = _listener(where, loop, heartbeat)
    await listener.start()
    stack.push_async_callback(listener.stop)
    signals.now_call(loop.stop)
    log.info("worker.started", worker=worker, queue=where.queue, surface=surface.name)
    async with asyncio.TaskGroup() as tasks:
        upkeep = Upkeep(rounds, reap_seconds=settings.reap_seconds)
        by_the_way = [tasks.create_task(work.run()) for work in (heartbeat, upkeep, telemetry)]
        await loop.run()
        await telemetry.flush(FLUSH_SECONDS)
        for task in by_the_way:
            task.cancel()
    log.info("worker.stopped", worker=worker, queue=where.queue)


def _telemetry(settings: Settings, where: Places, worker: str, stack: AsyncExitStack) -> Telemetry:
    runs = WarmConnection(where.queue_url, application_name="pgplane worker telemetry")
    stack.push_async_callback(runs.close)
    senders: dict[str, Send] = {"ledger": to_ledger(runs, where.queue, worker)}
    if settings.telemetry_url is not None:
        from pgplane.worker.webhook import Webhook  # its library, only where one is set

        webhook = Webhook(settings.telemetry_url, where.queue, worker)
        stack.push_async_callback(webhook.close)
        senders["webhook"] = webhook.send
    return Telemetry(senders)


async def _register(heartbeat: Heartbeat, queue: str) -> None:
    try:
        await until_reachable("queue database", heartbeat.register)
    except NotFound:
        raise BootRefusedError(
            f"there is no queue {queue!r} (PLANE_QUEUE). An admin creates it:"
            f" select plane.create_queue(p_queue => '{queue}')"
        ) from None
    except Forbidden as error:
        raise BootRefusedError(
            f"the login of PLANE_QUEUE_URL is no worker ({error}). Run:"
            " grant plane_worker to <that login>"
        ) from None
    except LedgerError as error:
        said = "; ".join(part for part in (error.message, error.detail, error.hint) if part)
        remedy = " Is it migrated? Run: pgplane migrate" if isinstance(error, NotMigrated) else ""
        raise BootRefusedError(
            f"the queue database answers {error.sqlstate}, {said.rstrip('.')}.{remedy}"
        ) from error


def _listener(where: Places, loop: ClaimLoop, heartbeat: Heartbeat) -> Listener:
    def heard(channel: str, payload: str) -> None:
        if channel == "plane_cancel":
            heartbeat.cancelled(payload)
        elif where.queue in payload.split(","):
            loop.wake()

    def connected() -> None:
        heartbeat.soon()
        loop.wake()

    return Listener(
        where.listen_url,
        ("plane_ready", "plane_cancel"),
        on_notification=heard,
        on_connect=connected,
        application_name="pgplane worker listener",
    )


def _info(settings: Settings, surface: Surface) -> str:
    return orjson.dumps(
        {
            "surface": surface.name,
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "version": __version__,
            "concurrency": settings.concurrency,
        }
    ).decode()
