"""Small SQL trees to migrate with, and a database's schema as `pg_dump` tells it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from pgplane.schema.tree import Tree

from .postgres import ROOT, find_binaries, find_psql

SHIPPED = Tree(ROOT / "db")


class Draft:
    """A tree in the making, with the real bootstrap.sql and yoyo hook, and nothing else."""

    def __init__(self, root: Path) -> None:
        root.mkdir()
        shutil.copy(SHIPPED.root / "bootstrap.sql", root)
        for folder in ("migrations", "verify", "functions", "views", "triggers"):
            (root / folder).mkdir()
        shutil.copy(SHIPPED.root / "migrations/post-apply.code.py", root / "migrations")
        self.tree = Tree(root)

    def state(self, name: str, apply: str, rollback: str, verify: str = "select 1;") -> None:
        """Write a state triple."""
        self.write(f"migrations/{name}.sql", apply)
        self.write(f"migrations/{name}.rollback.sql", rollback)
        self.write(f"verify/{name}.sql", verify)

    def write(self, path: str, text: str) -> None:
        (self.tree.root / path).write_text(text + "\n")

    def remove(self, path: str) -> None:
        (self.tree.root / path).unlink()


def schema(url: str) -> str:
    """The database's whole schema, with owners, privileges and comments."""
    dump = find_binaries() / "pg_dump"
    done = subprocess.run(
        [dump, "--schema-only", "--dbname", url], capture_output=True, text=True, check=True
    )
    # Newer minor versions wrap a dump in a random key.
    keys = ("\\restrict", "\\unrestrict")
    return "\n".join(line for line in done.stdout.splitlines() if not line.startswith(keys))


def psql(url: str, script: Path) -> subprocess.CompletedProcess[str]:
    """Run a script as a DBA would."""
    return subprocess.run(
        [find_psql(), "-X", "-q", "-f", script, url], capture_output=True, text=True, check=False
    )


def yoyo(url: str, *arguments: str, tree: Tree = SHIPPED) -> subprocess.CompletedProcess[str]:
    """Run plain yoyo as the repository's yoyo.ini says, beside the given tree."""
    return subprocess.run(
        [Path(sys.executable).with_name("yoyo"), *arguments, "--config", ROOT / "yoyo.ini"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tree.root.parent,
        env={**os.environ, "PLANE_QUEUE_URL": url},
    )
