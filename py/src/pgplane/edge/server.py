"""The server: the edge on uvicorn, with an orderly end."""

import asyncio
import logging
import math
import signal
import socket
from pathlib import Path
from types import FrameType

import uvicorn

from pgplane import logs
from pgplane.edge.app import create_app
from pgplane.edge.edge import Edge
from pgplane.settings import Settings

log = logs.get("edge")

BACKLOG = 2048
STUCK_CLIENT_MS = 45_000
"""How long a client may take nothing before the kernel drops its connection."""

_CUT = ("ASGI callable returned without completing response", "Cancel %s running task(s)")
"""How uvicorn's messages of them begin."""


class Cuts(logging.Filter):
    """Makes plain warnings of what uvicorn takes for faults: responses that the edge has cut, since
    a client took too little of them, or the grace time was over."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, asyncio.CancelledError):
            record.msg = "a response was cut at the end of the grace time"
            record.exc_info = None
        elif not str(record.msg).startswith(_CUT):
            return True
        record.levelno = logging.WARNING
        record.levelname = logging.getLevelName(record.levelno)
        return True


_cuts = Cuts()


class AddressError(RuntimeError):
    """The edge cannot listen where it was told to; the message says why."""


class Server(uvicorn.Server):
    """Uvicorn that drains the streams first, and ends without raising the signal again."""

    def __init__(self, config: uvicorn.Config, edge: Edge, drain_seconds: float) -> None:
        super().__init__(config)
        self._edge = edge
        self._drain_seconds = drain_seconds

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End in order; a second Ctrl+C ends at once."""
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listening in sockets or []:
            host, port = listening.getsockname()[:2]
            log.info("edge.started", host=host, port=port)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # Uvicorn waits for open responses before it ends the lifespan: streams must end by now.
        log.info("edge.draining", streams=len(self._edge.streams), seconds=self._drain_seconds)
        self._edge.streams.drain(self._drain_seconds)
        self._edge.pump.give_up()
        await super().shutdown(sockets)
        log.info("edge.stopped")


def run(
    settings: Settings,
    host: str = "127.0.0.1",
    port: int = 8000,
    static_dir: Path | None = None,
) -> None:
    """Serve until SIGTERM or SIGINT; port 0 takes a free one (`edge.started` in the log names it).

    On a signal, open streams end spread over half of `grace_seconds`, each telling its client when
    to reconnect; whatever is then still open at the end of it is cut. Raises AddressError, and
    what `create_app` raises.
    """
    server = make_server(settings, static_dir)
    with listen(host, port) as listening:
        server.run(sockets=[listening])


def make_server(settings: Settings, static_dir: Path | None = None) -> Server:
    """The edge, ready to `run` or `serve` on sockets of `listen`."""
    app = create_app(settings, static_dir)
    logging.getLogger("uvicorn.error").addFilter(_cuts)
    config = uvicorn.Config(
        app,
        loop="uvloop",
        http="httptools",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        backlog=BACKLOG,
        timeout_graceful_shutdown=math.ceil(settings.grace_seconds),
    )
    return Server(config, app.state.edge, settings.grace_seconds / 2)


def listen(host: str, port: int) -> socket.socket:
    """A listening TCP socket; raises AddressError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise AddressError(
            f"cannot listen on {host} port {port}: {error.strerror}; choose another port"
        ) from error
    # Accepted connections inherit it. ASGI has no way to cut a connection whose client took too
    # little for too long: uvicorn would wait for its buffer to empty.
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, STUCK_CLIENT_MS)
    return listening
