"""The command `pgplane`: thin, each command is one call into the module of its noun."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import psycopg
from pydantic import ValidationError

from pgplane import __version__, logs
from pgplane.schema import migrations
from pgplane.settings import Settings


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="pgplane")
def main() -> None:
    """A data plane inside PostgreSQL. Settings are PLANE_* environment variables."""


@contextmanager
def _plainly() -> Iterator[None]:
    """What went wrong as one message and exit status 1, without a traceback."""
    try:
        yield
    except migrations.MigrationError as refused:
        raise click.ClickException(str(refused)) from refused
    except psycopg.OperationalError as unreachable:
        raise click.ClickException(f"queue database: {unreachable}") from unreachable


def _settings() -> Settings:
    try:
        return Settings()
    except ValidationError as invalid:
        wrong = "; ".join(f"PLANE_{str(e['loc'][0]).upper()}: {e['msg']}" for e in invalid.errors())
        raise click.ClickException(wrong) from invalid


def _url() -> str:
    """Where to migrate: DDL and its locks want a session of their own, as LISTEN does."""
    url = _settings().listen_dsn
    if url is None:
        raise click.ClickException("set PLANE_QUEUE_URL to the queue database's postgresql:// URL")
    return url


@main.command()
def bootstrap() -> None:
    """Make roles and schemas (db/bootstrap.sql): a DBA's login, once per database."""
    with _plainly():
        migrations.bootstrap(_url())
    click.echo("roles and schemas are there; next: pgplane migrate")


@main.command()
def migrate() -> None:
    """Apply pending migrations, load the code, verify."""
    with _plainly():
        _tell(migrations.migrate(_url()))


@main.command()
@click.option("--to", required=True, metavar="ID", help="Last migration to keep; 0 keeps none.")
def revert(to: str) -> None:
    """Roll back every migration after ID, newest first."""
    with _plainly():
        _tell(migrations.revert(_url(), to))


def _tell(change: migrations.Change) -> None:
    for name in change.dropped:
        click.echo(f"dropped   {name}")
    for applied in change.applied:
        click.echo(f"applied   {applied}")
    for reverted in change.reverted:
        click.echo(f"reverted  {reverted}")
    if change.loaded:
        click.echo(f"loaded    code {change.loaded[:12]}")
    if change == migrations.Change():
        click.echo("nothing to do")


@main.command()
def verify() -> None:
    """Check the database against the tree; exit status 1 where it differs."""
    with _plainly():
        problems = migrations.verify(_url())
    for problem in problems:
        click.echo(problem, err=True)
    if problems:
        sys.exit(1)
    click.echo("the database is as the tree says")


@main.command()
def status() -> None:
    """Show what is applied and loaded; exit status 1 while something is left to do."""
    with _plainly():
        found = migrations.status(_url())
    for one in found.migrations:
        when = f"{one.applied_at:%Y-%m-%d %H:%M} UTC" if one.applied_at else "not applied"
        click.echo(f"{one.id:<40} {when:<21} {one.note}".rstrip())
    click.echo(f"code: {found.code}")
    if not found.current:
        sys.exit(1)


@main.command()
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", default=8000, show_default=True, type=click.IntRange(0, 65535))
@click.option(
    "--static",
    "static_dir",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of a built page to serve at /.",
)
def edge(host: str, port: int, static_dir: Path | None) -> None:
    """Serve HTTP and server-sent events."""
    from pgplane.edge import server

    settings = _settings()
    try:
        logs.configure(settings.log_level)
        server.run(settings, host, port, static_dir)
    except (server.AddressError, ValueError) as refused:
        raise click.ClickException(str(refused)) from refused


@main.command()
@click.argument("surface", metavar="MODULE:NAME")
def worker(surface: str) -> None:
    """Answer the requests of a surface, given as the module and the name of its Surface."""
    from pgplane.worker import main as process

    process.run(_settings(), surface)
