"""TCP ports of this machine."""

from __future__ import annotations

import socket

from flights.demo.trouble import DemoError

HOST = "127.0.0.1"
_TRIES = 50


def free() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def is_free(port: int) -> bool:
    """Whether a server could listen on this port."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


def require_free(port: int, setting: str) -> None:
    """Raises DemoError where the port is taken, naming the setting that changes it."""
    if not is_free(port):
        raise DemoError(
            f"port {port} is taken: stop what listens there, or set {setting} to another port"
        )


def first_free(port: int) -> int:
    """This port, or the next one that is free. Raises DemoError."""
    for candidate in range(port, port + _TRIES):
        if is_free(candidate):
            return candidate
    raise DemoError(
        f"ports {port} to {port + _TRIES - 1} are all taken: set DEMO_PORT to a free one"
    )
