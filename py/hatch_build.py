"""Build hook: a wheel carries the SQL tree; an editable install reads it from the checkout."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FILES = ("bootstrap.sql", "grants.sql")
FOLDERS = ("functions", "triggers", "views", "migrations", "verify", "releases")


class SqlTree(BuildHookInterface):
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        db = Path(self.root).parent / "db"
        for name in FILES + FOLDERS:
            if (db / name).exists():
                build_data["force_include"][str(db / name)] = f"pgplane/db/{name}"
