"""The account PostgreSQL runs under: it refuses to run as root, so root lends it `nobody`."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flights.demo.trouble import DemoError


@dataclass(frozen=True)
class Account:
    """Who runs the server.

    Attributes:
        name: for messages.
        ids: uid and gid to change to, or None to stay who we are.
    """

    name: str
    ids: tuple[int, int] | None

    def run(self, command: Sequence[str | Path], cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run a command to its end as this account; output and errors come back as one text."""
        return subprocess.run(
            [str(part) for part in command],
            cwd=cwd,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
            **self._identity(),
        )

    def own(self, path: Path) -> None:
        """Give a path to this account."""
        if self.ids is not None:
            os.chown(path, *self.ids)

    def can_reach(self, *paths: Path) -> bool:
        """Whether this account can read every one of these paths, all folders above included."""
        if self.ids is None:
            return True
        tests = [self.run(["test", "-r", path], cwd=Path("/")) for path in paths]
        return all(test.returncode == 0 for test in tests)

    def _identity(self) -> dict[str, Any]:
        if self.ids is None:
            return {}
        uid, gid = self.ids
        return {"user": uid, "group": gid, "extra_groups": []}


def for_server() -> Account:
    """Ourselves, or `nobody` where we are root. Raises DemoError."""
    if os.name != "posix" or os.geteuid() != 0:
        return Account("you", None)
    import pwd

    try:
        entry = pwd.getpwnam("nobody")
    except KeyError:
        raise DemoError(
            "PostgreSQL refuses to run as root and there is no account `nobody` to run it under: "
            "run `make demo` as an ordinary user, or set PLANE_QUEUE_URL to a server of your own"
        ) from None
    return Account("nobody", (entry.pw_uid, entry.pw_gid))


def _environment() -> dict[str, str]:
    """Ours without what steers PostgreSQL's own programs (PGDATA, PGPORT, …)."""
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("PG")},
        "LC_ALL": "C",
    }
