"""pgTAP itself: where it is found, how it gets here, how it enters a database.

pgTAP is an extension written in SQL alone, so one copy of its file serves every server version.
Where neither the server nor this machine has it, Debian's packages are unpacked into `.tools/`,
which changes nothing outside the working copy and needs no root.
"""

import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import click
import psycopg

from .postgres import ROOT

TOOLS = ROOT / ".tools" / "pgtap"

ADVICE = (
    "pgTAP is missing. Any one of these is enough:\n"
    "  apt-get install pgtap libtap-parser-sourcehandler-pgtap-perl\n"
    "  a running Docker engine (its image is built from docker-compose.yml)\n"
    "  PLANE_TEST_URL=postgresql://… of a server with pgTAP, and pg_prove on PATH"
)


class ToolMissingError(Exception):
    """Something that the run needs is not here; the message says what to install."""


@dataclass(frozen=True)
class Prover:
    """How to start pg_prove: the command and what it needs in its environment."""

    command: list[str]
    environment: dict[str, str]


def find_prover() -> Prover:
    """pg_prove from PATH, else from `.tools/`, fetched if need be. Raises ToolMissingError."""
    on_path = shutil.which("pg_prove")
    if on_path:
        return Prover([on_path], {})
    perl = shutil.which("perl")
    if perl is None:
        raise ToolMissingError("pg_prove needs Perl: apt-get install perl")
    script = TOOLS / "usr" / "bin" / "pg_prove"
    if not script.exists():
        _unpack_from_debian()
    return Prover([perl, str(script)], {"PERL5LIB": str(TOOLS / "usr" / "share" / "perl5")})


def install(url: str) -> None:
    """Put pgTAP into the database's schema `tap`, usable by every role. Raises ToolMissingError."""
    with psycopg.connect(url) as connection:
        connection.execute("create schema tap")
        connection.execute("grant usage on schema tap to public")
        if _server_has_it(connection):
            connection.execute("create extension pgtap schema tap")
        else:
            connection.execute("set local search_path = tap, pg_catalog")
            connection.execute(source().encode())


def _server_has_it(connection: psycopg.Connection) -> bool:
    found = connection.execute("select from pg_available_extensions where name = 'pgtap'")
    return found.fetchone() is not None


def source() -> str:
    path = newest_source()
    if path is None:
        _unpack_from_debian()
        path = newest_source()
    if path is None:
        raise ToolMissingError(ADVICE)
    return path.read_text()


def newest_source() -> Path | None:
    found = [
        (tuple(map(int, match[1].split("."))), path)
        for folder in (TOOLS / "usr", Path("/usr"))
        for path in folder.glob("share/postgresql/*/extension/pgtap--*.sql")
        if (match := re.fullmatch(r"pgtap--([\d.]+)\.sql", path.name))
    ]
    return max(found)[1] if found else None


def _unpack_from_debian() -> None:
    """Download Debian's pgTAP and pg_prove and unpack them into `.tools/pgtap`."""
    if not (shutil.which("apt-get") and shutil.which("dpkg")):
        raise ToolMissingError(ADVICE)
    click.echo(f"pgTAP is not installed: unpacking Debian's into {TOOLS.relative_to(ROOT)}/")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        if not _download(folder):
            if os.geteuid() == 0:
                subprocess.run(["apt-get", "update", "-q"], capture_output=True, check=False)
            if not _download(folder):
                raise ToolMissingError(ADVICE)
        TOOLS.mkdir(parents=True, exist_ok=True)
        for package in Path(folder).glob("*.deb"):
            subprocess.run(["dpkg", "-x", str(package), str(TOOLS)], check=True)


def _download(folder: str) -> bool:
    """Whether both packages arrived; pgTAP's is named after Debian's PostgreSQL version."""
    depends = subprocess.run(
        ["apt-cache", "depends", "pgtap"], capture_output=True, text=True, check=False
    )
    versioned = re.search(r"\bpostgresql-\d+-pgtap\b", depends.stdout)
    if versioned is None:
        return False
    packages = [versioned[0], "libtap-parser-sourcehandler-pgtap-perl"]
    download = subprocess.run(
        ["apt-get", "download", "-q", *packages], cwd=folder, capture_output=True, check=False
    )
    return download.returncode == 0
