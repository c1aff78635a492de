"""Edge and worker as real processes, started the way a deployment starts them."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from flights.demo import identity
from flights.demo.databases import QUEUE, QueueLogins
from flights.demo.identity import People
from flights.demo.processes import Child
from flights.demo.trouble import DemoError

SURFACE = "flights.operations:surface"
_EXAMPLE = Path(__file__).resolve().parents[2]


def start_worker(logins: QueueLogins, reader_url: str, logs: Path) -> Child:
    """A worker of the flights surface, with a reader's login to the client database."""
    return Child(
        "worker",
        [_pgplane(), "worker", SURFACE],
        {
            **_inherited(),
            "PLANE_QUEUE_URL": logins.worker,
            "PLANE_QUEUE": QUEUE,
            "PLANE_CLIENT_URL": reader_url,
            "PYTHONPATH": os.pathsep.join(
                filter(None, [str(_EXAMPLE), os.environ.get("PYTHONPATH")])
            ),
        },
        logs / "worker.log",
    )


def start_edge(
    logins: QueueLogins, people: People, port: int, page: Path | None, logs: Path
) -> Child:
    """An edge: it knows the tokens' public key, and nothing of the client database."""
    static = ["--static", str(page)] if page else []
    return Child(
        "edge",
        [_pgplane(), "edge", "--host", "127.0.0.1", "--port", str(port), *static],
        {
            **_inherited(),
            "PLANE_QUEUE_URL": logins.edge,
            "PLANE_JWT_KEY": people.public_key,
            "PLANE_JWT_ALGORITHMS": "ES256",
            "PLANE_JWT_AUDIENCE": identity.AUDIENCE,
            "PLANE_JWT_ISSUER": identity.ISSUER,
        },
        logs / "edge.log",
    )


async def worker_is_ready(worker: Child) -> bool:
    """Whether the worker has said that it claims."""
    return any(event.get("event") == "worker.started" for event in _events(worker))


def handler_starts(worker: Child) -> dict[str, float]:
    """Job id → seconds from the job's creation to its handler's start, from the worker's log.

    The creation is by the queue database's clock, the start by this machine's.
    """
    return {
        str(event["job_id"]): event["queued_ms"] / 1000
        for event in _events(worker)
        if event.get("event") == "job.started"
    }


def _events(child: Child) -> Iterator[dict[str, Any]]:
    for line in child.log.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            event = json.loads(line)
        except json.JSONDecodeError:
            continue
        if isinstance(event, dict):
            yield event


def _inherited() -> dict[str, str]:
    """Our environment without pgplane's settings: each process is told its own, no other's."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PLANE_")}


def _pgplane() -> str:
    """The command `pgplane` of this virtual environment. Raises DemoError."""
    command = Path(sys.executable).parent / "pgplane"
    if not command.exists():
        raise DemoError(f"there is no {command}: run `make install`")
    return str(command)
