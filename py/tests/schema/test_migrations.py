"""Migrations on real databases: what is applied together, refused, taken back, and waited for."""

import re
import signal
import subprocess
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgplane.schema import locks, migrations
from pgplane.schema.migrations import Change, MigrationError
from pgplane.schema.tree import Tree, TreeError

from ..support.postgres import Server, for_role
from ..support.sessions import Stage, staged
from ..support.sqltree import Draft, schema, yoyo

GREET = """
create or replace function plane.greet(p_name text) returns text language sql immutable
    set search_path = pg_catalog, pg_temp
    as $$ select 'hello ' || p_name $$;
revoke all on function plane.greet(text) from public;
grant execute on function plane.greet(text) to plane_producer;
comment on function plane.greet(text) is 'Greets.';
"""


@pytest.fixture
def draft(tmp_path: Path) -> Draft:
    """A tree with two state migrations and one function."""
    draft = Draft(tmp_path / "db")
    draft.state("0001.word", "create table plane.word (text text);", "drop table plane.word;")
    draft.state(
        "0002.length",
        "alter table plane.word add column length int;",
        "alter table plane.word drop column length;",
        "select length from plane.word where false;",
    )
    draft.write("functions/greet.sql", GREET)
    return draft


def value(url: str, query: str) -> Any:
    with psycopg.connect(url) as connection:
        row = connection.execute(query.encode()).fetchone()
    assert row is not None
    return row[0]


def applied(url: str) -> list[str]:
    with psycopg.connect(url) as connection:
        rows = connection.execute("select migration_id from plane_meta._yoyo_migration order by 1")
        return [name for (name,) in rows]


def test_migrate_applies_what_is_pending_and_loads_the_code(bare_db: str, draft: Draft) -> None:
    change = migrations.migrate(bare_db, draft.tree)
    assert change.applied == ["0001.word", "0002.length"]
    assert change.loaded == draft.tree.code().sha256
    assert value(bare_db, "select plane.greet('you')") == "hello you"
    assert migrations.verify(bare_db, draft.tree) == []
    assert migrations.status(bare_db, draft.tree).current


def test_migrate_again_does_nothing(bare_db: str, draft: Draft) -> None:
    migrations.migrate(bare_db, draft.tree)
    assert migrations.migrate(bare_db, draft.tree) == Change()


def test_everything_belongs_to_the_owner_whoever_migrates(bare_db: str, draft: Draft) -> None:
    migrations.migrate(bare_db, draft.tree)
    owners = "select array_agg(distinct pg_get_userbyid(relowner)) from pg_class where relnamespace"
    assert value(bare_db, f"{owners} = 'plane'::regnamespace") == ["plane_owner"]
    owners = "select array_agg(distinct pg_get_userbyid(proowner)) from pg_proc where pronamespace"
    assert value(bare_db, f"{owners} = 'plane'::regnamespace") == ["plane_owner"]


def test_the_shipped_tree_goes_all_the_way_back_and_forth(bare_db: str) -> None:
    empty = schema(bare_db)
    migrations.migrate(bare_db)
    full = schema(bare_db)
    change = migrations.revert(bare_db, "0")
    assert change.reverted[-1] == "0001.ledger"
    assert schema(bare_db) == empty
    assert not migrations.status(bare_db).current
    migrations.migrate(bare_db)
    assert schema(bare_db) == full
    assert migrations.verify(bare_db) == []


def test_plain_yoyo_ends_in_the_same_database(bare_db: str, server: Server) -> None:
    migrations.migrate(bare_db)
    with psycopg.connect(server.database_url("postgres"), autocommit=True) as connection:
        connection.execute("create database by_yoyo")
    by_yoyo = server.database_url("by_yoyo")
    migrations.bootstrap(by_yoyo)
    done = yoyo(by_yoyo, "apply")
    assert done.returncode == 0, done.stderr
    assert schema(by_yoyo) == schema(bare_db)
    assert migrations.status(by_yoyo).current
    assert migrations.verify(by_yoyo) == []
    assert migrations.migrate(by_yoyo) == Change()


def test_revert_keeps_the_migration_it_names(bare_db: str, draft: Draft) -> None:
    migrations.migrate(bare_db, draft.tree)
    assert migrations.revert(bare_db, "0001", draft.tree).reverted == ["0002.length"]
    assert applied(bare_db) == ["0001.word"]
    assert migrations.revert(bare_db, "0001.word", draft.tree) == Change()


def test_revert_to_an_unknown_migration_is_refused(bare_db: str, draft: Draft) -> None:
    migrations.migrate(bare_db, draft.tree)
    with pytest.raises(MigrationError, match=r"'0009'; applied: 0001.word, 0002.length"):
        migrations.revert(bare_db, "0009", draft.tree)


def test_a_failing_migration_leaves_nothing_behind(bare_db: str, draft: Draft) -> None:
    draft.state("0003.bad", "create table plane.gone (); select 1 / 0;", "drop table plane.gone;")
    before = schema(bare_db)
    with pytest.raises(MigrationError, match=r"0003.bad: apply failed: division by zero"):
        migrations.migrate(bare_db, draft.tree)
    assert applied(bare_db) == []
    assert schema(bare_db) == before


def test_a_failing_function_leaves_nothing_behind(bare_db: str, draft: Draft) -> None:
    draft.write(
        "functions/wrong.sql",
        "create or replace function plane.wrong() returns nonsense language sql return 1;",
    )
    with pytest.raises(MigrationError, match=r"functions/wrong.sql: .*nonsense"):
        migrations.migrate(bare_db, draft.tree)
    assert applied(bare_db) == []


def test_a_failing_verification_leaves_nothing_behind(bare_db: str, draft: Draft) -> None:
    draft.write("verify/0002.length.sql", "select width from plane.word;")
    with pytest.raises(MigrationError, match=r"verify of 0002.length failed.*width"):
        migrations.migrate(bare_db, draft.tree)
    assert applied(bare_db) == []


def test_verification_names_every_column_of_every_table(queue_db: str) -> None:
    verified = {
        (table, column.strip())
        for migration in Tree.shipped().migrations()
        if migration.release is None
        for columns, table in re.findall(
            r"select ([\w, ]+) from plane\.(\w+) where false", migration.verify.read_text()
        )
        for column in columns.split(",")
    }
    with psycopg.connect(queue_db) as connection:
        columns = connection.execute(
            "select c.relname, a.attname from pg_class c"
            " join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped"
            " where c.relnamespace = 'plane'::regnamespace and c.relkind in ('r', 'p')"
            " and not c.relispartition"
        ).fetchall()
    assert set(columns) - verified == set()
    assert len(columns) > 50


@pytest.mark.parametrize("name", ["0001.word.sql", "0001.word.rollback.sql"])
def test_an_applied_file_that_was_edited_is_refused(bare_db: str, draft: Draft, name: str) -> None:
    migrations.migrate(bare_db, draft.tree)
    draft.write(f"migrations/{name}", "drop table plane.word; -- other")
    draft.write("functions/greet.sql", GREET.replace("hello", "good day"))
    with pytest.raises(MigrationError, match=r"0001.word was changed after it was applied"):
        migrations.migrate(bare_db, draft.tree)
    assert value(bare_db, "select plane.greet('you')") == "hello you"
    assert [s.note for s in migrations.status(bare_db, draft.tree).migrations] == [
        "changed after it was applied",
        "",
    ]


def test_a_database_that_is_ahead_of_the_tree_is_refused(bare_db: str, draft: Draft) -> None:
    migrations.migrate(bare_db, draft.tree)
    for name in ("migrations/0002.length.sql", "migrations/0002.length.rollback.sql"):
        draft.remove(name)
    with pytest.raises(MigrationError, match=r"0002.length is applied but unknown here"):
        migrations.migrate(bare_db, draft.tree)


@pytest.mark.parametrize("lost", ["migrations/0002.length.rollback.sql", "verify/0002.length.sql"])
def test_a_migration_without_its_way_back_or_its_check_is_refused(
    bare_db: str, draft: Draft, lost: str
) -> None:
    draft.remove(lost)
    with pytest.raises(TreeError, match=rf"0002.length has no {lost}: write it"):
        migrations.migrate(bare_db, draft.tree)
    assert applied(bare_db) == []


def test_badly_named_migrations_are_refused(draft: Draft) -> None:
    draft.write("migrations/0003.fix.py", "from yoyo import step")
    with pytest.raises(TreeError, match="only a release step is Python"):
        draft.tree.migrations()
    draft.remove("migrations/0003.fix.py")
    draft.state("0002.other", "select 1;", "select 1;")
    with pytest.raises(TreeError, match="2 migrations are numbered 0002"):
        draft.tree.migrations()
    draft.write("migrations/notes.sql", "select 1;")
    with pytest.raises(TreeError, match=r"notes.sql: a migration is named NNNN.slug.sql"):
        draft.tree.migrations()


def test_what_a_code_text_no_longer_has_is_dropped(bare_db: str, draft: Draft) -> None:
    migrations.migrate(bare_db, draft.tree)
    draft.remove("functions/greet.sql")
    change = migrations.migrate(bare_db, draft.tree)
    assert [str(name) for name in change.dropped] == ["function plane.greet(pg_catalog.text)"]
    assert value(bare_db, "select count(*) from pg_proc where proname = 'greet'") == 0


def test_a_renamed_argument_is_loaded_with_what_depends_on_it(bare_db: str, draft: Draft) -> None:
    draft.write(
        "views/greetings.sql",
        "create or replace view plane.greetings as select plane._hi('x') as hi;",
    )
    hi = (
        "create or replace function plane._hi({} text) returns text language sql "
        "as $$ select $1 $$;"
    )
    draft.write("functions/_hi.sql", hi.format("p_old"))
    draft.write(
        "functions/all_greetings.sql",
        "create or replace function plane.all_greetings() returns setof plane.greetings "
        "language sql as $$ select * from plane.greetings $$;",
    )
    migrations.migrate(bare_db, draft.tree)
    draft.write("functions/_hi.sql", hi.format("p_new"))
    change = migrations.migrate(bare_db, draft.tree)
    assert [name.identity.split("(")[0] for name in change.dropped] == [
        "plane.all_greetings",
        "plane.greetings",
        "plane._hi",
    ]
    assert value(bare_db, "select plane._hi(p_new => 'y')") == "y"
    assert value(bare_db, "select hi from plane.all_greetings()") == "x"


def test_only_what_cannot_be_replaced_is_dropped(bare_db: str, draft: Draft) -> None:
    view = "create or replace view plane.words as select {} from plane.word;"
    draft.write("views/words.sql", view.format("text"))
    migrations.migrate(bare_db, draft.tree)
    draft.write("views/words.sql", view.format("text, length"))
    draft.write("functions/greet.sql", GREET.replace("hello", "good day"))
    assert migrations.migrate(bare_db, draft.tree).dropped == []
    draft.write("views/words.sql", view.format("length"))
    assert [str(n) for n in migrations.migrate(bare_db, draft.tree).dropped] == ["view plane.words"]


def test_grants_are_the_files_and_the_deployers_own(bare_db: str, draft: Draft) -> None:
    migrations.migrate(bare_db, draft.tree)
    with psycopg.connect(bare_db, autocommit=True) as connection:
        connection.execute("create role deployer")
        connection.execute("grant execute on function plane.greet(text) to deployer, plane_worker")
    draft.write("functions/greet.sql", GREET.replace("to plane_producer", "to plane_reader"))
    migrations.migrate(bare_db, draft.tree)
    may = {
        role: value(
            bare_db, f"select has_function_privilege('{role}', 'plane.greet(text)', 'EXECUTE')"
        )
        for role in ("deployer", "plane_reader", "plane_producer", "plane_worker")
    }
    assert may == {
        "deployer": True,
        "plane_reader": True,
        "plane_producer": False,
        "plane_worker": False,
    }


def test_what_a_deployer_built_on_a_view_is_never_dropped(bare_db: str, draft: Draft) -> None:
    view = "create or replace view plane.words as select {} from plane.word;"
    draft.write("views/words.sql", view.format("text"))
    migrations.migrate(bare_db, draft.tree)
    with psycopg.connect(bare_db, autocommit=True) as connection:
        connection.execute("create view public.mine as select * from plane.words")
    draft.write("views/words.sql", view.format("length"))
    with pytest.raises(MigrationError, match=r"view public.mine depends on view plane.words"):
        migrations.migrate(bare_db, draft.tree)
    assert value(bare_db, "select count(*) from public.mine") == 0


def test_verify_names_what_was_changed_by_hand(bare_db: str, draft: Draft) -> None:
    migrations.migrate(bare_db, draft.tree)
    with psycopg.connect(bare_db, autocommit=True) as connection:
        connection.execute("grant execute on function plane.greet(text) to plane_worker")
        connection.execute("create function plane.extra() returns int language sql return 1")
    assert migrations.verify(bare_db, draft.tree) == [
        "function plane.extra() is not as its file says",
        "function plane.greet(pg_catalog.text) is not as its file says",
    ]


def test_an_index_can_be_built_concurrently(bare_db: str, draft: Draft) -> None:
    draft.state(
        "0003.word-index",
        "-- transactional: false\ncreate index concurrently word_text on plane.word (text);",
        "-- transactional: false\ndrop index concurrently plane.word_text;",
    )
    draft.state("0004.more", "create table plane.more ();", "drop table plane.more;")
    change = migrations.migrate(bare_db, draft.tree)
    assert change.applied == ["0001.word", "0002.length", "0003.word-index", "0004.more"]
    valid = "select indisvalid from pg_index where indexrelid = 'plane.word_text'::regclass"
    assert value(bare_db, valid) is True
    change = migrations.revert(bare_db, "0001", draft.tree)
    assert change.reverted == ["0004.more", "0003.word-index", "0002.length"]
    assert value(bare_db, "select to_regclass('plane.word_text')") is None


def test_a_file_outside_a_transaction_holds_one_statement(bare_db: str, draft: Draft) -> None:
    draft.state(
        "0003.word-index",
        "-- transactional: false\n"
        "create index concurrently a on plane.word (text);\n"
        "create index concurrently b on plane.word (length);",
        "drop index plane.a, plane.b;",
    )
    with pytest.raises(MigrationError, match="outside a transaction"):
        migrations.migrate(bare_db, draft.tree)
    assert applied(bare_db) == ["0001.word", "0002.length"]


def test_a_database_without_bootstrap_is_refused(server: Server, draft: Draft) -> None:
    with pytest.raises(MigrationError, match=r"a DBA runs db/bootstrap.sql first"):
        migrations.migrate(server.database_url("postgres"), draft.tree)


def test_bootstrap_refuses_a_schema_that_is_there(bare_db: str) -> None:
    with pytest.raises(MigrationError, match='schema "plane" already exists'):
        migrations.bootstrap(bare_db)


def test_a_login_without_the_role_may_not_migrate(bare_db: str, draft: Draft) -> None:
    with psycopg.connect(bare_db, autocommit=True) as connection:
        connection.execute("drop role if exists nobody_much")
        connection.execute("create role nobody_much login")
    with pytest.raises(MigrationError, match="grant plane_migrator to nobody_much"):
        migrations.migrate(for_role(bare_db, "nobody_much"), draft.tree)
    with psycopg.connect(bare_db, autocommit=True) as connection:
        connection.execute("grant plane_migrator to nobody_much")
    assert migrations.migrate(for_role(bare_db, "nobody_much"), draft.tree).applied


def test_a_lock_that_is_held_is_waited_for_in_short_tries(
    bare_db: str, draft: Draft, monkeypatch: pytest.MonkeyPatch
) -> None:
    migrations.migrate(bare_db, draft.tree)
    draft.state("0003.width", "alter table plane.word add width int;", "select 1;")
    with staged(bare_db) as stage:
        (reader,) = stage.enter(bare_db)
        reader.run("begin")
        reader.run("select * from plane.word")
        pauses: list[float] = []

        def pause(seconds: float) -> None:
            pauses.append(seconds)
            if len(pauses) == 2:
                reader.run("commit")

        monkeypatch.setattr(time, "sleep", pause)
        monkeypatch.setattr(locks, "LOCK_SECONDS", 0.05)
        assert migrations.migrate(bare_db, draft.tree).applied == ["0003.width"]
        assert pauses == [1, 2]


def test_a_lock_that_stays_held_ends_with_a_clear_line(
    bare_db: str, draft: Draft, monkeypatch: pytest.MonkeyPatch
) -> None:
    migrations.migrate(bare_db, draft.tree)
    draft.state("0003.width", "alter table plane.word add width int;", "select 1;")
    monkeypatch.setattr(time, "sleep", lambda _: None)
    monkeypatch.setattr(locks, "LOCK_SECONDS", 0.02)
    with staged(bare_db) as stage:
        (reader,) = stage.enter(bare_db)
        reader.run("begin")
        reader.run("select * from plane.word")
        with pytest.raises(MigrationError, match="end the long transaction that holds it"):
            migrations.migrate(bare_db, draft.tree)
    assert applied(bare_db) == ["0001.word", "0002.length"]


GATE = "select pg_advisory_lock(4711)"
AT_THE_GATE = (
    "select pid from pg_locks where locktype = 'advisory' and objid = 4711 and not granted"
)
FOR_A_TURN = (
    "select pid from pg_locks where locktype = 'advisory' and not granted "
    "and objid::bigint = hashtext('pgplane migrations')::bigint & 4294967295"
)


@pytest.fixture
def gated(draft: Draft) -> Draft:
    """The draft, whose last migration waits until the gate opens."""
    draft.state("0003.gate", "select pg_advisory_xact_lock(4711);", "select 1;")
    return draft


def until_seen(stage: Stage, query: str, running: Future[Any]) -> None:
    """Return once the query finds a row; fails when what runs has ended before."""
    patience = time.monotonic() + 20
    while not stage.look(query):
        assert not wait([running], timeout=0.01).done, f"ended with {running.result()}"
        assert time.monotonic() < patience, query


def test_two_at_once_take_turns(bare_db: str, gated: Draft) -> None:
    with staged(bare_db) as stage, ThreadPoolExecutor() as threads:
        (gate,) = stage.enter(bare_db)
        gate.run(GATE)
        first = threads.submit(migrations.migrate, bare_db, gated.tree)
        until_seen(stage, AT_THE_GATE, first)
        second = threads.submit(migrations.migrate, bare_db, gated.tree)
        until_seen(stage, FOR_A_TURN, second)
        gate.run("select pg_advisory_unlock_all()")
        changes = [first.result(timeout=60), second.result(timeout=60)]
    assert sorted(len(change.applied) for change in changes) == [0, 3]
    assert applied(bare_db) == ["0001.word", "0002.length", "0003.gate"]


def test_a_killed_run_leaves_no_lock_and_no_half(bare_db: str, gated: Draft) -> None:
    program = (
        "import sys, pathlib; from pgplane.schema import migrations, tree; "
        "migrations.migrate(sys.argv[1], tree.Tree(pathlib.Path(sys.argv[2])))"
    )
    with staged(bare_db) as stage, ThreadPoolExecutor() as threads:
        (gate,) = stage.enter(bare_db)
        gate.run(GATE)
        doomed = subprocess.Popen([sys.executable, "-c", program, bare_db, str(gated.tree.root)])
        until_seen(stage, AT_THE_GATE, threads.submit(doomed.wait))
        doomed.kill()
        assert doomed.wait() == -signal.SIGKILL
        gate.run("select pg_advisory_unlock_all()")
        assert migrations.migrate(bare_db, gated.tree).applied == [
            "0001.word",
            "0002.length",
            "0003.gate",
        ]


def test_the_lock_of_plain_yoyo_is_respected(bare_db: str, draft: Draft) -> None:
    with psycopg.connect(bare_db, autocommit=True) as connection:
        connection.execute("insert into plane_meta.yoyo_lock values (1, now(), 12345)")
    with pytest.raises(MigrationError, match=r"plain yoyo \(process 12345\).*yoyo break-lock"):
        migrations.migrate(bare_db, draft.tree)
    assert yoyo(bare_db, "break-lock", tree=draft.tree).returncode == 0
    assert migrations.migrate(bare_db, draft.tree).applied


def test_what_plain_yoyo_applied_is_on_record_too(bare_db: str, draft: Draft) -> None:
    done = yoyo(bare_db, "apply", tree=draft.tree)
    assert done.returncode == 0, done.stderr
    assert migrations.migrate(bare_db, draft.tree) == Change()
    draft.write("migrations/0001.word.sql", "create table plane.word (text varchar);")
    with pytest.raises(MigrationError, match=r"0001.word was changed"):
        migrations.migrate(bare_db, draft.tree)


def test_the_ledger_is_not_reverted_under_live_jobs(bare_db: str) -> None:
    migrations.migrate(bare_db)
    with psycopg.connect(bare_db, autocommit=True) as connection:
        connection.execute("select plane.create_queue('mail'), plane.enqueue('mail', 'send')")
        with pytest.raises(MigrationError, match="there are live jobs"):
            migrations.revert(bare_db, "0")
        connection.execute(
            "select plane.complete_job(job_id, attempt) from plane.claim_one('mail', 'w')"
        )
    assert migrations.revert(bare_db, "0").reverted[-1] == "0001.ledger"
