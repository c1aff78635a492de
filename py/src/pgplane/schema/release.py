"""Releases: the SQL tree frozen as plain psql scripts, and as the migration step that loads it.

`db/releases/X.Y.Z/` holds

- `install.sql`: the whole of it, for a database that has only been bootstrapped;
- `upgrade-from-P.sql`, `downgrade-to-P.sql`: between the release before and this one;
- `code.sql`, `code.rollback.sql`: the code alone, which `NNNN.release-X.Y.Z.py` runs;
- `bootstrap.sql` as it was, and `SHA256SUMS` over all of them.

Each script leaves the database, its record of migrations included, as `pgplane migrate` would.
`python -m pgplane.schema.release X.Y.Z` writes them into a checkout.
"""

import hashlib
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import click
import psycopg
from yoyo.migrations import get_migration_hash

from pgplane import __version__
from pgplane.schema import scratch
from pgplane.schema.catalog import Name, drops, load, loading
from pgplane.schema.locks import TURN
from pgplane.schema.tree import Code, Migration, MigrationError, Tree, version_key

STEP = '''\
"""Release {version}: loads its frozen code; rolled back, the code of the release before."""

from pathlib import Path

from yoyo import step

FROZEN = Path(__file__).resolve().parents[1] / "releases" / "{version}"

step(
    lambda connection: connection.execute((FROZEN / "code.sql").read_bytes()),
    lambda connection: connection.execute((FROZEN / "code.rollback.sql").read_bytes()),
)
'''

BEGIN = f"""\
begin;
set local lock_timeout = '5s';
set local client_min_messages = warning;
set local role plane_owner;
do $$ begin perform pg_advisory_xact_lock({TURN}); end $$;
"""

REFUSE = """\
do $$
begin
    if {unfit} then
        raise exception '{message}' using hint = '{hint}';
    end if;
end
$$;
"""


class ReleaseError(MigrationError):
    """The release cannot be rendered; says why and what to do."""


@dataclass(frozen=True)
class _Plan:
    """What the scripts of one release are made from."""

    tree: Tree
    code: Code
    before: Code | None
    states: list[Migration]
    """All state migrations, in order."""
    new_states: list[Migration]
    """Those since the release before."""
    step: str
    """Id of this release's own migration step."""
    drops_up: list[Name]
    drops_down: list[Name]

    @property
    def version(self) -> str:
        return str(self.code.release)


def render(version: str, tree: Tree, server_url: str | None = None) -> list[Path]:
    """Write the release into the tree; returns the files written.

    `server_url` is a superuser's URL of a server where a database may be made and dropped; without
    one an embedded PostgreSQL is started. Raises ReleaseError and TreeError, and then writes
    nothing.
    """
    _refuse_wrong_version(version, tree)
    with scratch.database(server_url) as url:
        plan = _plan(version, tree, url)
    step = tree.root / "migrations" / f"{plan.step}.py"
    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder)
        _write_code(plan, draft)
        step_text = STEP.format(version=version)
        sha256 = _step_hash(step_text, draft)
        _write_scripts(plan, draft, sha256)
        _write_checksums(draft)
        frozen = tree.release_folder(version)
        shutil.copytree(draft, frozen)
    step.write_text(step_text)
    return [step, *sorted(frozen.iterdir())]


def _refuse_wrong_version(version: str, tree: Tree) -> None:
    key = version_key(version)
    if version != __version__ and tree == Tree.shipped():
        raise ReleaseError(f"py/pyproject.toml says {__version__}: set version = {version!r} there")
    released = tree.releases()
    if released and version_key(released[-1]) >= key:
        raise ReleaseError(f"{released[-1]} is released already: choose a higher version")


def _plan(version: str, tree: Tree, url: str) -> _Plan:
    migrations = tree.migrations()
    if not migrations:
        raise ReleaseError("there is no migration to release")
    released = tree.releases()
    before = tree.frozen(released[-1]) if released else None
    steps = [number for number, m in enumerate(migrations) if m.release]
    since = migrations[steps[-1] + 1 :] if steps else migrations
    code = Code(tree.code().sql, version)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(tree.bootstrap.encode())
        connection.execute("set role plane_owner")
        for migration in migrations:
            if migration.release is None:
                connection.execute(migration.path.read_bytes())
        with connection.transaction():
            load(connection, before)
            drops_up = drops(connection, code)
            load(connection, code)
            drops_down = drops(connection, before)
    return _Plan(
        tree=tree,
        code=code,
        before=before,
        states=[m for m in migrations if m.release is None],
        new_states=since,
        step=f"{int(migrations[-1].id[:4]) + 1:04}.release-{version}",
        drops_up=drops_up,
        drops_down=drops_down,
    )


def _write_code(plan: _Plan, folder: Path) -> None:
    (folder / "code.sql").write_text(
        f"-- The code of pgplane {plan.version}. {plan.step}.py runs this.\n\n"
        f"{_dropping(plan.drops_up)}{loading(plan.code)}"
    )
    (folder / "code.rollback.sql").write_text(
        f"-- Back from the code of pgplane {plan.version}. {plan.step}.py, rolled back, runs this."
        f"\n\n{_dropping(plan.drops_down)}{loading(plan.before)}"
    )


def _dropping(names: list[Name]) -> str:
    """Drops of what CREATE OR REPLACE cannot replace or what is no longer there."""
    lines = [f"drop {name.kind} if exists {name.identity};\n" for name in names]
    return "".join([*lines, "\n"]) if lines else ""


def _step_hash(step: str, folder: Path) -> str:
    """As `Migration.sha256` will tell of the step."""
    digest = hashlib.sha256(step.encode())
    for name in ("code.sql", "code.rollback.sql"):
        digest.update(b"\0" + (folder / name).read_bytes())
    return digest.hexdigest()


def _write_scripts(plan: _Plan, folder: Path, step_sha256: str) -> None:
    code = (folder / "code.sql").read_text()
    mark = _mark(plan.step, step_sha256)
    known = [m for m in plan.tree.migrations() if m.release]
    marks = "".join(_mark(m.id, m.sha256) for m in known) + mark
    (folder / "bootstrap.sql").write_text(plan.tree.bootstrap)
    (folder / "install.sql").write_text(
        _script(
            f"Install pgplane {plan.version} into a database where bootstrap.sql has run",
            _refuse(
                "exists (select from plane_meta.migration)",
                "pgplane is installed here already",
                "use an upgrade script, or pgplane migrate",
            ),
            [_applying(m) for m in plan.states] + [(f"{loading(plan.code)}{marks}", True)],
        )
    )
    if plan.before is None:
        return
    before = str(plan.before.release)
    (folder / f"upgrade-from-{before}.sql").write_text(
        _script(
            f"Upgrade pgplane {before} to {plan.version}",
            _refuse_unless(before),
            [_applying(m) for m in plan.new_states] + [(f"{code}{mark}", True)],
        )
    )
    back = (folder / "code.rollback.sql").read_text()
    (folder / f"downgrade-to-{before}.sql").write_text(
        _script(
            f"Take pgplane {plan.version} back to {before}",
            _refuse_unless(plan.version),
            [(f"{back}{_unmark(plan.step)}", True)]
            + [_reverting(m) for m in reversed(plan.new_states)],
        )
    )


def _refuse(unfit: str, message: str, hint: str) -> str:
    return REFUSE.format(unfit=unfit, message=message, hint=hint)


def _refuse_unless(version: str) -> str:
    return _refuse(
        f"not exists (select from plane_meta.code where release = '{version}')",
        f"this is no pgplane {version}",
        "select release from plane_meta.code, and take the script for that",
    )


def _script(title: str, guard: str, parts: list[tuple[str, bool]]) -> str:
    """A psql script; each part is SQL and whether it runs inside the transaction."""
    text = [f"-- {title}:\n--\n--     psql -X -f …, as a superuser or a member of plane_migrator\n"]
    text += ["\n\\set ON_ERROR_STOP on\n\n", BEGIN, "\n", guard]
    for sql, inside in parts:
        if inside:
            text += ["\n", sql]
        else:
            text += ["\ncommit;\nset role plane_owner;\n", sql, "reset role;\n", BEGIN]
    return "".join([*text, "\ncommit;\n"])


def _applying(migration: Migration) -> tuple[str, bool]:
    mark = _mark(migration.id, migration.sha256)
    return _headed(migration.path, mark), migration.transactional


def _reverting(migration: Migration) -> tuple[str, bool]:
    return _headed(migration.rollback, _unmark(migration.id)), migration.transactional


def _headed(path: Path, mark: str) -> str:
    return f"-- migrations/{path.name}\n{path.read_text().rstrip()}\n\n{mark}"


def _mark(migration_id: str, sha256: str) -> str:
    return f"""\
insert into plane_meta.migration (migration_id, sha256)
values ('{migration_id}', '{sha256}');
insert into plane_meta._yoyo_migration (migration_hash, migration_id, applied_at_utc)
values ('{get_migration_hash(migration_id)}', '{migration_id}', now() at time zone 'utc');
"""


def _unmark(migration_id: str) -> str:
    return f"""\
delete from plane_meta.migration where migration_id = '{migration_id}';
delete from plane_meta._yoyo_migration where migration_id = '{migration_id}';
"""


def _write_checksums(folder: Path) -> None:
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
        for path in sorted(folder.iterdir())
    ]
    (folder / "SHA256SUMS").write_text("".join(lines))


@click.command()
@click.argument("version")
def main(version: str) -> None:
    """Write db/releases/VERSION and the migration step that loads it."""
    try:
        for path in render(version, Tree.checkout()):
            click.echo(f"wrote {os.path.relpath(path)}")
    except MigrationError as refused:
        raise click.ClickException(str(refused)) from refused


if __name__ == "__main__":
    main()
