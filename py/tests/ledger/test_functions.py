"""The functions in the database: that they are the files in db/, and that their bodies hold.

plpgsql_check reads what PL/pgSQL itself looks at only when it gets there: names, types, unused
variables, results that do not fit. It is an extension of the server (`postgresql-15-plpgsql-check`
in Debian); where a server lacks it, that one test is skipped and says so.
"""

import psycopg
import pytest

from .. import pgtap
from ..support import tap
from ..support.postgres import ROOT

DB = ROOT / "db"


def test_the_functions_in_the_database_are_the_files(queue_db: str) -> None:
    files = [*DB.glob("functions/**/*.sql"), *DB.glob("triggers/**/*.sql")]
    with psycopg.connect(queue_db) as connection:
        functions = connection.execute(
            "select proname from pg_proc where pronamespace = 'plane'::regnamespace"
        )
        assert sorted(name for (name,) in functions) == sorted(file.stem for file in files)


def test_the_views_in_the_database_are_the_files(queue_db: str) -> None:
    with psycopg.connect(queue_db) as connection:
        views = connection.execute("select viewname from pg_views where schemaname = 'plane'")
        files = (DB / "views").glob("*.sql")
        assert sorted(name for (name,) in views) == sorted(file.stem for file in files)


def test_every_public_function_has_its_pgtap_file() -> None:
    functions = {
        file.stem for file in DB.glob("functions/**/*.sql") if not file.stem.startswith("_")
    }
    tests = {file.stem for file in DB.glob("tests/functions/**/*.sql")}
    assert sorted(functions - tests) == []


def test_plpgsql_check_has_nothing_to_say(queue_db: str) -> None:
    with psycopg.connect(queue_db, autocommit=True) as connection:
        here = "select from pg_available_extensions where name = 'plpgsql_check'"
        if connection.execute(here).fetchone() is None:
            pytest.skip(
                "the server has no plpgsql_check: apt-get install postgresql-15-plpgsql-check"
            )
        connection.execute("create schema checks")
        connection.execute("create extension plpgsql_check schema checks")
        warnings = connection.execute(
            r"""
            select p.oid::regprocedure::text, c.lineno, c.level, c.message, c.detail, c.hint
            from pg_proc p
            join pg_language l on l.oid = p.prolang and l.lanname = 'plpgsql'
            cross join checks.plpgsql_check_function_tb(
                p.oid, extra_warnings => true, other_warnings => true, security_warnings => true,
                performance_warnings => false) c
            where p.pronamespace = 'plane'::regnamespace
                -- it does not see that a loop without an exit can only return
                and not (c.message ~ '^control reached end' and p.prosrc ~ '^\s*begin\s+loop\M')
            """
        ).fetchall()
        assert not warnings, "\n".join(map(str, warnings))


def test_every_rule_of_the_catalog_can_be_broken(queue_db: str) -> None:
    """A rule that nothing can break guards nothing: each must fail on a schema full of faults."""
    tap.install(queue_db)
    with psycopg.connect(queue_db, autocommit=True) as connection:
        connection.execute((DB / "tests" / "schema" / "_faults.sql").read_bytes())
    for file in pgtap.find_tests([DB / "tests" / "schema"]):
        passed = [line for line in pgtap.run(queue_db, file) if line.startswith("ok ")]
        assert passed == [], file.name
