"""The life of the demo's own PostgreSQL server: made once, started and stopped with each run."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from flights.database.dsn import url
from flights.demo import account, binaries, ports
from flights.demo.trouble import DemoError, tail

_NEEDED = 600 * 1024 * 1024
_START_SECONDS = 60
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "timezone": "UTC",
    "log_line_prefix": "%m [%p] %q%u@%d ",
}

Say = Callable[[str], None]


@dataclass(frozen=True)
class Cluster:
    """A PostgreSQL data directory and the programs that serve it.

    Attributes:
        home: everything of this server: data, password, log.
        programs: folder with initdb, pg_ctl and postgres.
        account: who runs them.
    """

    home: Path
    programs: Path
    account: account.Account

    @property
    def data(self) -> Path:
        return self.home / "data"

    @property
    def log(self) -> Path:
        return self.home / "server.log"

    def start(self, port: int | None, say: Say) -> str:
        """Start the server, making it first where there is none; the superuser's connection string.

        Args:
            port: TCP port on 127.0.0.1; None takes a free one.
            say: told what is being done.

        Raises:
            DemoError: no room, the port is taken, the server does not start, ….
        """
        self._require_room()
        if not self.data.exists():
            say("making a PostgreSQL server")
            self._make()
        self._require_version()
        self._clear_leftovers(say)
        port = ports.free() if port is None else port
        ports.require_free(port, "DEMO_PG_PORT")
        settings = " ".join(
            f"-c {name}='{value}'" for name, value in {**_SETTINGS, "port": port}.items()
        )
        self.log.unlink(missing_ok=True)
        started = self._pg_ctl(
            "start", "-w", "-t", str(_START_SECONDS), "-l", self.log, "-o", settings
        )
        if started.returncode != 0:
            raise DemoError(
                f"PostgreSQL did not start; the end of {self.log}:\n{tail(self.log)}\n"
                f"If its data are damaged, remove {self.home} and run `make demo` again."
            )
        password = (self.home / "password").read_text(encoding="utf-8").strip()
        return url(
            host="127.0.0.1", port=port, user="postgres", password=password, dbname="postgres"
        )

    def stop(self) -> None:
        """Stop the server; one that is not running is fine."""
        self._pg_ctl("stop", "-w", "-m", "fast")

    def _make(self) -> None:
        """Initialise beside the final place and rename: a killed run leaves no half of it."""
        password = self.home / "password"
        password.touch(mode=0o600)
        password.write_text(secrets.token_urlsafe(24) + "\n", encoding="utf-8")
        self.account.own(password)
        unfinished = self.home / "data.new"
        shutil.rmtree(unfinished, ignore_errors=True)
        made = self.account.run(
            [
                self.programs / "initdb",
                "--pgdata", unfinished,
                "--username", "postgres",
                "--pwfile", password,
                "--auth", "scram-sha-256",
                "--encoding", "UTF8",
                "--locale", "C",
                "--locale-provider", "builtin",
                "--builtin-locale", "C.UTF-8",
            ],
            cwd=self.home,
        )  # fmt: skip
        if made.returncode != 0:
            raise DemoError(f"initdb failed:\n{made.stdout.strip()}")
        unfinished.rename(self.data)

    def _require_room(self) -> None:
        free = shutil.disk_usage(self.home).free
        if not self.data.exists() and free < _NEEDED:
            raise DemoError(
                f"the demo needs about {_NEEDED >> 20} MB; {self.home} has {free >> 20} MB free: "
                "make room, or set DEMO_DIR to a folder on another disk"
            )

    def _require_version(self) -> None:
        answer = self.account.run([self.programs / "postgres", "--version"], cwd=self.home)
        program = (
            answer.stdout.split()[-1].split(".")[0]
            if answer.returncode == 0
            else answer.stdout.strip()
        )
        try:
            data = (self.data / "PG_VERSION").read_text(encoding="ascii").strip()
        except OSError as error:
            raise DemoError(
                f"{self.data} is no whole PostgreSQL data directory: "
                f"remove {self.home} and run `make demo` again"
            ) from error
        if program != data:
            raise DemoError(
                f"the data in {self.data} are of PostgreSQL {data}, "
                f"the installed server is {program}: remove {self.home} and run `make demo` again"
            )

    def _clear_leftovers(self, say: Say) -> None:
        """A killed run leaves its server running, or a pid file that names nobody or a stranger."""
        pid_file = self.data / "postmaster.pid"
        if not pid_file.exists():
            return
        first = pid_file.read_text(encoding="utf-8").partition("\n")[0].strip()
        if first.isdigit() and _is_postgres(int(first)):
            say("stopping the server that an earlier run left behind")
            if self._pg_ctl("stop", "-w", "-m", "fast").returncode != 0:
                raise DemoError(
                    f"a server of an earlier run (process {first}) does not stop: end it yourself"
                )
        else:
            pid_file.unlink(missing_ok=True)

    def _pg_ctl(self, action: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return self.account.run(
            [self.programs / "pg_ctl", action, "-D", self.data, "-s", *arguments], cwd=self.home
        )


def prepared(folder: Path, say: Say) -> Cluster:
    """The cluster below a folder, or elsewhere if the server's account cannot go there.

    Raises DemoError.
    """
    who = account.for_server()
    programs = binaries.installed()
    home = folder / "postgres"
    home.mkdir(parents=True, exist_ok=True)
    who.own(home)
    if not (binaries.usable_by(who, programs) and who.can_reach(home)):
        shared = _shared(folder)
        say(f"{who.name} cannot enter {folder}; PostgreSQL's files are in {shared}")
        programs = binaries.copied(programs, shared / "server")
        home = shared / "postgres"
        home.mkdir(exist_ok=True)
        who.own(home)
    home.chmod(0o700)
    return Cluster(home, programs, who)


def _shared(folder: Path) -> Path:
    """A folder of ours that everybody can enter, always the same for `folder`.

    Raises DemoError.
    """
    name = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:8]
    shared = Path("/var/tmp", f"pgplane-demo-{name}")  # noqa: S108 - its owner is checked
    shared.mkdir(mode=0o755, exist_ok=True)
    if shared.is_symlink() or shared.stat().st_uid != os.geteuid():
        raise DemoError(f"{shared} belongs to somebody else: remove it, or set DEMO_DIR")
    shared.chmod(0o755)
    return shared


def _is_postgres(pid: int) -> bool:
    try:
        return str(psutil.Process(pid).name()).startswith("postgres")
    except psutil.Error:
        return False
