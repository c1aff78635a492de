"""The page, where it was built: its files beside a `users.json` with tokens to try."""

from __future__ import annotations

import shutil
from pathlib import Path

from flights.demo.configuration import REPOSITORY
from flights.demo.identity import People, write_users

BUILT = REPOSITORY / "web" / "dist"


def assembled(folder: Path, people: People, built: Path = BUILT) -> Path | None:
    """Lay the page out below `folder`, anew; the directory to serve, None if none was built."""
    if not (built / "index.html").is_file():
        return None
    page = folder / "page"
    shutil.rmtree(page, ignore_errors=True)
    shutil.copytree(built, page)
    write_users(people, page / "users.json")
    return page
