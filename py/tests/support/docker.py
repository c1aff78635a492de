"""The compose file's PostgreSQL as a throw-away container, where a Docker engine answers."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import psycopg

SERVICE = "postgres"
PATIENCE = 60.0
"""Seconds that the container has to accept connections."""


class EngineError(Exception):
    """The engine answered and then could not do its part; the message is its own."""


def answers() -> bool:
    """Whether a Docker engine with compose answers here."""
    if shutil.which("docker") is None:
        return False
    try:
        for command in (["docker", "info"], ["docker", "compose", "version"]):
            if subprocess.run(command, capture_output=True, timeout=20, check=False).returncode:
                return False
    except subprocess.TimeoutExpired:
        return False
    return True


@contextmanager
def postgres(compose: Path) -> Iterator[str]:
    """A superuser's connection string to a container of the compose file's image.

    The container is this run's own: it takes a free port, needs no password, keeps nothing, and
    leaves a stack that is already up alone. Raises EngineError.
    """
    image = _image(compose)
    container = _docker(
        "run", "--rm", "--detach", "--env", "POSTGRES_HOST_AUTH_METHOD=trust",
        "--publish", "127.0.0.1::5432", image,
    ).strip()  # fmt: skip
    try:
        address = _docker("port", container, "5432/tcp").splitlines()[0]
        url = f"postgresql://postgres@{address}/postgres"
        _wait_until_open(url, container)
        yield url
    finally:
        subprocess.run(["docker", "stop", container], capture_output=True, check=False)


def _image(compose: Path) -> str:
    """The service's image, built first where the compose file builds it."""
    config: dict[str, Any] = json.loads(
        _docker("compose", "--file", str(compose), "config", "--format", "json")
    )
    service = config["services"][SERVICE]
    if "build" in service:
        _docker("compose", "--file", str(compose), "build", SERVICE)
    return str(service.get("image") or f"{config['name']}-{SERVICE}")


def _wait_until_open(url: str, container: str) -> None:
    """The image restarts its server once while it initialises; only TCP tells the real one."""
    until = monotonic() + PATIENCE
    while True:
        try:
            psycopg.connect(url, connect_timeout=5).close()
            return
        except psycopg.OperationalError as error:
            if monotonic() > until:
                logs = _docker("logs", "--tail", "20", container)
                raise EngineError(f"the container does not accept connections:\n{logs}") from error
            sleep(0.2)


def _docker(*arguments: str) -> str:
    done = subprocess.run(["docker", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise EngineError(f"docker {arguments[0]} failed:\n{done.stderr.strip()}")
    return done.stdout
