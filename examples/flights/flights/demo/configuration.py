"""What the environment tells the demo."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import psycopg

from flights.database.dsn import url
from flights.demo.trouble import DemoError

REPOSITORY = Path(__file__).resolve().parents[4]
DEFAULT_PORT = 8811


@dataclass(frozen=True)
class Configuration:
    """All of it.

    Attributes:
        folder: DEMO_DIR; what the demo keeps between runs (default: .demo in the repository).
        port: DEMO_PORT; the page's and the API's; None: 8811, or the next one that is free.
        server_port: DEMO_PG_PORT; of the demo's own PostgreSQL; None: a free one.
        once: ONCE; end after the questions instead of staying up.
        queue_url: PLANE_QUEUE_URL; a server of yours instead of the demo's own. A login that may
            create databases and roles, and the queue database's name, which may be new.
        client_admin_url: DEMO_CLIENT_ADMIN_URL; the same for the client database's server
            (default: where the queue database is).
    """

    folder: Path
    port: int | None
    server_port: int | None
    once: bool
    queue_url: str | None
    client_admin_url: str | None


def read(environ: Mapping[str, str] | None = None) -> Configuration:
    """Read the environment; an empty variable counts as unset. Raises DemoError."""
    given = {name: value for name, value in (environ or os.environ).items() if value.strip()}
    return Configuration(
        folder=Path(given.get("DEMO_DIR", REPOSITORY / ".demo")).expanduser().resolve(),
        port=_port(given, "DEMO_PORT"),
        server_port=_port(given, "DEMO_PG_PORT"),
        once=given.get("ONCE", "0").lower() not in {"0", "no", "false"},
        queue_url=_dsn(given, "PLANE_QUEUE_URL"),
        client_admin_url=_dsn(given, "DEMO_CLIENT_ADMIN_URL"),
    )


def _port(given: Mapping[str, str], name: str) -> int | None:
    text = given.get(name)
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 65535):
        raise DemoError(f"{name}={text}: a port is a number from 1 to 65535")
    return int(text)


def _dsn(given: Mapping[str, str], name: str) -> str | None:
    dsn = given.get(name)
    try:
        return None if dsn is None else url(dsn)
    except psycopg.ProgrammingError as error:
        raise DemoError(f"{name} is no connection string: {str(error).strip()}") from error
