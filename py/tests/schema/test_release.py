"""Releases: every road to one ends in the same database, compared by `pg_dump`."""

import hashlib
import shutil
from collections.abc import Callable, Iterator
from itertools import count, pairwise
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from pgplane.schema import migrations
from pgplane.schema.migrations import Change
from pgplane.schema.release import ReleaseError, render
from pgplane.schema.tree import Tree

from ..support.postgres import Server
from ..support.sqltree import SHIPPED, Draft, psql, schema, yoyo

_numbers = count(1)

ADD = """
create or replace function plane._add(p_a int, {b} int) returns int language sql immutable
    set search_path = pg_catalog, pg_temp
    as $$ select p_a + {b} $$;
revoke all on function plane._add(int, int) from public;
grant execute on function plane._add(int, int) to {role};
comment on function plane._add(int, int) is 'Adds, {b}.';
"""

PAIRS = list(pairwise(SHIPPED.releases()))


@pytest.fixture
def new_database(server: Server) -> Iterator[Callable[[], str]]:
    """Makes bootstrapped databases."""
    made: list[str] = []
    with psycopg.connect(server.database_url("postgres"), autocommit=True) as connection:

        def make() -> str:
            made.append(f"release_{next(_numbers)}")
            connection.execute(sql.SQL("create database {}").format(sql.Identifier(made[-1])))
            url = server.database_url(made[-1])
            migrations.bootstrap(url)
            return url

        yield make
        for name in made:
            connection.execute(
                sql.SQL("drop database {} with (force)").format(sql.Identifier(name))
            )


@pytest.fixture
def server_url(server: Server) -> str:
    return server.database_url("postgres")


@pytest.fixture
def two_releases(tmp_path: Path, rendered: Tree) -> Tree:
    """A copy of `rendered` of this test's own."""
    shutil.copytree(rendered.root, tmp_path / "db")
    return Tree(tmp_path / "db")


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory, server: Server) -> Tree:
    """1.0.0, and 2.0.0 with a new table, a renamed argument, moved grants and less of the rest."""
    server_url = server.database_url("postgres")
    draft = Draft(tmp_path_factory.mktemp("rendered") / "db")
    draft.state("0001.number", "create table plane.number (n int);", "drop table plane.number;")
    draft.write("functions/_add.sql", ADD.format(b="p_b", role="plane_worker"))
    draft.write(
        "functions/gone.sql",
        ADD.replace("plane._add", "plane.gone").format(b="p_b", role="plane_reader"),
    )
    draft.write(
        "views/numbers.sql",
        "create or replace view plane.numbers as\n"
        "    select n, plane._add(n, 1) as next from plane.number;\n"
        "grant select on plane.numbers to plane_admin, plane_reader;",
    )
    draft.write(
        "triggers/number_changed.sql",
        "create or replace function plane.number_changed() returns trigger language plpgsql\n"
        "    as $$ begin return new; end $$;\n"
        "create or replace trigger number_changed before update on plane.number\n"
        "    for each row execute function plane.number_changed();",
    )
    render("1.0.0", draft.tree, server_url)
    draft.state(
        "0003.name",
        "create table plane.name (name text, n int);",
        "drop table plane.name;",
    )
    draft.state(
        "0004.name-index",
        "-- transactional: false\ncreate index concurrently name_name on plane.name (name);",
        "-- transactional: false\ndrop index concurrently plane.name_name;",
    )
    draft.write("functions/_add.sql", ADD.format(b="p_other", role="plane_reader"))
    draft.remove("functions/gone.sql")
    draft.remove("triggers/number_changed.sql")
    draft.write(
        "views/numbers.sql",
        "create or replace view plane.numbers as select n from plane.number;\n"
        "grant select on plane.numbers to plane_admin;",
    )
    draft.write(
        "functions/names.sql",
        "create or replace function plane.names() returns setof plane.name language sql stable\n"
        "    as $$ select * from plane.name $$;",
    )
    render("2.0.0", draft.tree, server_url)
    return draft.tree


def run(url: str, tree: Tree, script: str) -> None:
    done = psql(url, tree.root / "releases" / script)
    assert done.returncode == 0, done.stderr


def test_three_roads_lead_to_one_database(
    tmp_path: Path, server_url: str, new_database: Callable[[], str]
) -> None:
    tree = Tree(tmp_path / "db")
    shutil.copytree(SHIPPED.root, tree.root)
    version = "99.0.0"
    render(version, tree, server_url)
    by_pgplane, by_yoyo, by_psql = new_database(), new_database(), new_database()

    assert migrations.migrate(by_pgplane, tree).applied[-1].endswith(f"release-{version}")
    done = yoyo(by_yoyo, "apply", tree=tree)
    assert done.returncode == 0, done.stderr
    run(by_psql, tree, f"{version}/install.sql")

    assert "plane.enqueue" in schema(by_pgplane)
    for url in (by_pgplane, by_yoyo, by_psql):
        assert schema(url) == schema(by_pgplane)
        assert migrations.verify(url, tree) == []
        assert migrations.status(url, tree).code.startswith(f"{version} (")
        assert migrations.migrate(url, tree) == Change()


def test_an_upgraded_database_is_a_freshly_installed_one(
    two_releases: Tree, new_database: Callable[[], str]
) -> None:
    upgraded, fresh, migrated = new_database(), new_database(), new_database()
    run(upgraded, two_releases, "1.0.0/install.sql")
    run(upgraded, two_releases, "2.0.0/upgrade-from-1.0.0.sql")
    run(fresh, two_releases, "2.0.0/install.sql")
    migrations.migrate(migrated, two_releases)
    assert schema(upgraded) == schema(fresh) == schema(migrated)
    assert "plane.gone" not in schema(upgraded)
    for url in (upgraded, fresh):
        assert migrations.verify(url, two_releases) == []
        assert migrations.migrate(url, two_releases) == Change()


def test_a_downgraded_database_is_one_of_the_release_before(
    two_releases: Tree, new_database: Callable[[], str]
) -> None:
    downgraded, reverted, first = new_database(), new_database(), new_database()
    run(first, two_releases, "1.0.0/install.sql")
    run(downgraded, two_releases, "2.0.0/install.sql")
    run(downgraded, two_releases, "2.0.0/downgrade-to-1.0.0.sql")
    migrations.migrate(reverted, two_releases)
    change = migrations.revert(reverted, "0002", two_releases)
    assert change.reverted == ["0005.release-2.0.0", "0004.name-index", "0003.name"]
    assert schema(downgraded) == schema(reverted) == schema(first)
    assert migrations.status(reverted, two_releases).code.startswith("1.0.0 (")


def test_plain_yoyo_walks_through_releases_both_ways(
    two_releases: Tree, new_database: Callable[[], str]
) -> None:
    by_yoyo, fresh = new_database(), new_database()
    empty = schema(fresh)
    migrations.migrate(fresh, two_releases)
    assert yoyo(by_yoyo, "apply", tree=two_releases).returncode == 0
    assert schema(by_yoyo) == schema(fresh)
    done = yoyo(by_yoyo, "rollback", "--all", tree=two_releases)
    assert done.returncode == 0, done.stderr
    assert schema(by_yoyo) == empty


def test_going_back_from_unreleased_code_takes_it_along(
    two_releases: Tree, new_database: Callable[[], str]
) -> None:
    url, first = new_database(), new_database()
    migrations.migrate(url, two_releases)
    (two_releases.root / "functions/later.sql").write_text(
        "create or replace function plane.later() returns plane.name language sql "
        "as $$ select null::plane.name $$;"
    )
    assert migrations.migrate(url, two_releases).applied == []
    run(first, two_releases, "1.0.0/install.sql")
    migrations.revert(url, "0002", two_releases)
    assert schema(url) == schema(first)


def test_a_script_refuses_a_database_that_it_does_not_fit(
    two_releases: Tree, new_database: Callable[[], str]
) -> None:
    url = new_database()
    run(url, two_releases, "2.0.0/install.sql")
    before = schema(url)
    releases = two_releases.root / "releases"
    for script, complaint in {
        "2.0.0/install.sql": "pgplane is installed here already",
        "2.0.0/upgrade-from-1.0.0.sql": "this is no pgplane 1.0.0",
    }.items():
        refused = psql(url, releases / script)
        assert refused.returncode == 3
        assert complaint in refused.stderr
    assert schema(url) == before


def test_frozen_code_that_was_edited_is_refused(
    two_releases: Tree, new_database: Callable[[], str]
) -> None:
    url = new_database()
    migrations.migrate(url, two_releases)
    frozen = two_releases.root / "releases/1.0.0/code.sql"
    frozen.write_text(frozen.read_text() + "-- a fix\n")
    with pytest.raises(migrations.MigrationError, match=r"0002.release-1.0.0 was changed"):
        migrations.migrate(url, two_releases)


def test_versions_only_rise(two_releases: Tree, server_url: str) -> None:
    with pytest.raises(ReleaseError, match=r"2.0.0 is released already"):
        render("1.5.0", two_releases, server_url)
    with pytest.raises(migrations.MigrationError, match=r"'next' is no version: write X.Y.Z"):
        render("next", two_releases, server_url)


def test_the_shipped_tree_is_released_as_the_package_says(server_url: str) -> None:
    before = SHIPPED.releases()
    with pytest.raises(ReleaseError, match=r"py/pyproject.toml says"):
        render("98.7.6", Tree.shipped(), server_url)
    assert SHIPPED.releases() == before


def test_checksums_are_those_of_the_files(two_releases: Tree) -> None:
    for tree, version in [(t, v) for t in (two_releases, SHIPPED) for v in t.releases()]:
        sums = dict(tree.checksums(version))
        folder = tree.release_folder(version)
        assert sums.keys() == {path.name for path in folder.iterdir()} - {"SHA256SUMS"}
        for name, sha256 in sums.items():
            assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == sha256, name


@pytest.mark.parametrize(("before", "after"), PAIRS or [pytest.param("", "", id="none yet")])
def test_every_release_is_reached_from_the_one_before(
    before: str, after: str, new_database: Callable[[], str]
) -> None:
    if not PAIRS:
        assert len(SHIPPED.releases()) < 2
        return
    upgraded, fresh = new_database(), new_database()
    run(upgraded, SHIPPED, f"{before}/install.sql")
    run(upgraded, SHIPPED, f"{after}/upgrade-from-{before}.sql")
    run(fresh, SHIPPED, f"{after}/install.sql")
    assert schema(upgraded) == schema(fresh)
    run(upgraded, SHIPPED, f"{after}/downgrade-to-{before}.sql")
    first = new_database()
    run(first, SHIPPED, f"{before}/install.sql")
    assert schema(upgraded) == schema(first)
