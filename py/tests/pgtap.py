"""Run the pgTAP tests of `db/tests` on a freshly migrated database: `python -m tests.pgtap`.

Which server, first that fits:

1. `PLANE_TEST_URL`, a superuser's connection string; a database is made on it and dropped again;
2. the PostgreSQL image of docker-compose.yml, where a Docker engine answers;
3. a server found on this machine (see `tests.support.postgres`).

Arguments are test files or folders to run instead of all of `db/tests`.
Exit status: 0 all passed, 1 a test failed or nothing could run.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import click
import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from .support import docker, tap
from .support.postgres import ROOT, Server, find_psql, for_database, install_plane

TESTS = ROOT / "db" / "tests"


def main(arguments: list[str]) -> int:
    """Run the tests; returns the exit status."""
    files = find_tests([Path(argument).resolve() for argument in arguments] or [TESTS])
    try:
        with ExitStack() as stack:
            database = stack.enter_context(migrated_database())
            return prove(database, files)
    except (tap.ToolMissingError, docker.EngineError) as missing:
        click.echo(missing, err=True)
        return 1


def find_tests(places: list[Path]) -> list[Path]:
    """The test files in the given places; a leading underscore marks a helper, not a test."""
    files = [
        file
        for place in places
        for file in (sorted(place.rglob("*.sql")) if place.is_dir() else [place])
        if not file.name.startswith("_")
    ]
    if not files:
        raise SystemExit(f"no test files in {', '.join(map(str, places))}")
    return files


@contextmanager
def migrated_database() -> Iterator[str]:
    """The connection string of a migrated database with pgTAP in its schema `tap`, and oracle."""
    name = f"pgplane_pgtap_{os.getpid()}"
    with server_url() as url, psycopg.connect(url, autocommit=True) as server:
        server.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
        try:
            database = for_database(url, name)
            install_plane(database)
            tap.install(database)
            with psycopg.connect(database) as inside:
                inside.execute((TESTS / "_oracle.sql").read_bytes())
            yield database
        finally:
            server.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))


@contextmanager
def server_url() -> Iterator[str]:
    """A superuser's connection string to the server to test on."""
    given = os.environ.get("PLANE_TEST_URL")
    if given:
        yield given
    elif docker.answers():
        with docker.postgres(ROOT / "docker-compose.yml") as url:
            yield url
    else:
        with Server() as server:
            yield server.database_url("postgres")


def prove(database: str, files: list[Path]) -> int:
    """Run pg_prove over the files and print its output and a closing line."""
    prover = tap.find_prover()
    command = [
        *prover.command, "--jobs", "2", "--psql-bin", str(find_psql()), *map(str, files)
    ]  # fmt: skip
    environment = {**os.environ, **prover.environment, **_connection(database)}
    with subprocess.Popen(
        command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        output = []
        for line in process.stdout:
            output.append(line)
            click.echo(line, nl=False)
    counted = re.search(r"^Files=(\d+), Tests=(\d+)", "".join(output), re.MULTILINE)
    ran, assertions = (int(counted[1]), int(counted[2])) if counted else (0, 0)
    passed = process.returncode == 0 and assertions > 0
    click.echo(
        f"pgTAP: {assertions} assertions in {ran} files, "
        f"{'all passed' if passed else 'FAILED'}, on {_version(database)}"
    )
    return 0 if passed else 1


def run(database: str, file: Path) -> list[str]:
    """The TAP lines of one test file, run by psql alone."""
    command = [str(find_psql()), "-X", "-q", "-A", "-t", "-f", str(file)]
    environment = {**os.environ, **_connection(database)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done.stdout.splitlines()


def _connection(database: str) -> dict[str, str]:
    parts = conninfo_to_dict(database)
    names = {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "password": "PGPASSWORD"}
    given = {names[key]: str(value) for key, value in parts.items() if key in names}
    return {**given, "PGDATABASE": str(parts["dbname"]), "PGOPTIONS": "--search_path=tap"}


def _version(database: str) -> str:
    with psycopg.connect(database) as connection:
        version = connection.info.server_version
    return f"PostgreSQL {version // 10000}.{version % 10000}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
