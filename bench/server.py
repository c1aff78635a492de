"""A throw-away server with fsync on, a fresh database for every figure, and its meters."""

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import psycopg

from bench.queues import Queue
from tests.support.postgres import Server, find_binaries

SETTINGS = {
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "shared_buffers": "1GB",
    "max_wal_size": "16GB",
    "checkpoint_timeout": "1h",
    "max_connections": "150",
    "jit": "on",
    "autovacuum": "on",
    "autovacuum_naptime": "1min",
}
"""What may differ from PostgreSQL's defaults and matters: a page image is written for no figure,
since no checkpoint falls between filling a database and emptying it."""

RUN = "bench_run"
"""The database that is measured."""


@dataclass(frozen=True)
class Spent:
    """What a stretch of time cost the server."""

    wal: int
    """Bytes of write-ahead log."""
    cpu: float
    """Seconds of the CPU, user and system, in processes that have ended: clients' and vacuum's."""


class Bench:
    """The server that everything is measured on."""

    def __init__(self) -> None:
        self.binaries = find_binaries()
        self.server = Server(self.binaries, **SETTINGS)
        self.admin = psycopg.connect(self.server.database_url("postgres"), autocommit=True)
        self.process = psutil.Process(self.server.child_process.pid)
        self.templates: set[str] = set()

    def close(self) -> None:
        """Stop the server; its files go with it."""
        self.admin.close()
        self.server.stop()

    @property
    def url(self) -> str:
        """Address of the database that is measured."""
        return self.server.database_url(RUN)

    def program(self, name: str) -> Path | None:
        """The server's own program of this name, else the one on PATH, else None."""
        own = self.binaries / name
        found = str(own) if own.exists() else shutil.which(name)
        return Path(found) if found else None

    def fresh(self, queue: Queue) -> None:
        """Make the measured database anew, with nothing but this queue in it."""
        template = "bench_" + "".join(c if c.isalnum() else "_" for c in queue.name)
        if template not in self.templates:
            self.admin.execute(f"create database {template}")
            queue.install(self.server.database_url(template))
            self.templates.add(template)
        self.admin.execute(f"drop database if exists {RUN} with (force)")
        self.admin.execute(f"create database {RUN} template {template}")
        self.admin.execute("checkpoint")

    def fill(self, queue: Queue, jobs: int, *, keyed: bool) -> None:
        """Enqueue so many jobs, and let the planner know of them."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(queue.fill, {"n": jobs, "keyed": keyed})
            connection.execute("vacuum analyze")
        left = self.left(queue)
        if left != jobs:
            raise RuntimeError(f"{queue.name}: {jobs} jobs enqueued, {left} there")

    def left(self, queue: Queue) -> int:
        """How many jobs are not done."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            return number(connection, queue.left)

    @contextmanager
    def spending(self) -> Iterator[list[Spent]]:
        """What the block cost: `with bench.spending() as spent: …`, then `spent[0]`."""
        spent: list[Spent] = []
        self._wait_for_clients()
        wal, cpu = self._wal(), self._cpu()
        yield spent
        self._wait_for_clients()
        spent.append(Spent(self._wal() - wal, self._cpu() - cpu))

    def _wal(self) -> int:
        return number(self.admin, "select pg_current_wal_insert_lsn() - '0/0'")

    def _cpu(self) -> float:
        times = self.process.cpu_times()
        return float(times.children_user + times.children_system)

    def _wait_for_clients(self) -> None:
        """The CPU of a backend is known once the postmaster has seen it end."""
        until = time.monotonic() + 10
        while any(self._serves_a_client(child) for child in self.process.children()):
            if time.monotonic() > until:
                raise RuntimeError("a client's backend did not end")
            time.sleep(0.01)

    def _serves_a_client(self, child: psutil.Process) -> bool:
        try:
            title = " ".join(child.cmdline())
        except psutil.ZombieProcess:
            title = ""
        except psutil.NoSuchProcess:
            return False
        # one that is ending has no title any more
        return child.pid != self.admin.info.backend_pid and (not title or "127.0.0.1(" in title)


def number(connection: psycopg.Connection, query: str) -> int:
    """The one integer that a query gives."""
    row = connection.execute(query).fetchone()
    assert row is not None  # noqa: S101 - an aggregate or an expression has one
    return int(row[0])
