"""The pgTAP runner: how it finds its tests, its tools and its server, and what it says."""

import json
import sys
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from .. import pgtap
from ..support import docker, tap
from ..support.postgres import Server


def write_test(folder: Path, name: str, assertion: str) -> Path:
    """A pgTAP file with one assertion."""
    file = folder / name
    file.write_text(
        f"begin;\nselect plan(1);\nselect {assertion};\nselect * from finish();\nrollback;\n"
    )
    return file


def test_helpers_are_no_tests(tmp_path: Path) -> None:
    test = write_test(tmp_path, "claim.sql", "pass('fine')")
    write_test(tmp_path, "_helper.sql", "fail('never run')")
    assert pgtap.find_tests([tmp_path]) == [test]


def test_no_tests_at_all_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no test files"):
        pgtap.find_tests([tmp_path])


@pytest.mark.parametrize(
    ("assertion", "status", "verdict"),
    [
        ("pass('fine')", 0, "all passed"),
        ("fail('not fine')", 1, "FAILED"),
        ("pass('fine'); insert into plane.live_key values (gen_random_uuid(), 1)", 1, "FAILED"),
    ],
    ids=["passing", "failing", "leaving the ledger broken"],
)
def test_the_closing_line_counts_and_the_status_tells(
    server: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    assertion: str,
    status: int,
    verdict: str,
) -> None:
    monkeypatch.setenv("PLANE_TEST_URL", server.database_url("postgres"))
    write_test(tmp_path, "one.sql", assertion)
    assert pgtap.main([str(tmp_path)]) == status
    closing = capfd.readouterr().out.splitlines()[-1]
    assert closing.startswith(f"pgTAP: 1 assertions in 1 files, {verdict}, on PostgreSQL ")


def test_it_leaves_nothing_on_the_given_server(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLANE_TEST_URL", server.database_url("postgres"))
    pgtap.main([str(write_test(tmp_path, "one.sql", "pass('fine')"))])
    with psycopg.connect(server.database_url("postgres")) as connection:
        left = connection.execute("select from pg_database where datname like 'pgplane_pgtap%'")
        assert left.rowcount == 0


def test_a_docker_engine_lends_its_postgres(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in for the engine, with our server as its container: each step in its order."""
    at = conninfo_to_dict(server.database_url("postgres"))
    config = {"name": "pgplane", "services": {"postgres": {"build": ".", "image": "plane:18"}}}
    log = tmp_path / "log"
    engine = tmp_path / "docker"
    engine.write_text(
        f"#!{sys.executable}\n"
        "import sys\n"
        f"open({str(log)!r}, 'a').write(' '.join(sys.argv[1:]) + '\\n')\n"
        f"answers = {{'run': 'c0ffee', 'port': '{at['host']}:{at['port']}'}}\n"
        f"config = {json.dumps(config)!r}\n"
        "print(config if 'config' in sys.argv else answers.get(sys.argv[1], ''))\n"
    )
    engine.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")

    assert docker.answers()
    with docker.postgres(Path("docker-compose.yml")) as url, psycopg.connect(url) as connection:
        assert connection.execute("select 1").fetchone() == (1,)

    steps = log.read_text().splitlines()
    assert [step.split()[0] for step in steps] == [
        "info", "compose", "compose", "compose", "run", "port", "stop",
    ]  # fmt: skip
    assert steps[3] == "compose --file docker-compose.yml build postgres"
    assert steps[4].endswith("--publish 127.0.0.1::5432 plane:18")
    assert steps[6] == "stop c0ffee"


def test_an_engine_that_fails_is_heard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = tmp_path / "docker"
    engine.write_text("#!/bin/sh\necho 'no space left' >&2\nexit 1\n")
    engine.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")

    assert not docker.answers()
    with (
        pytest.raises(docker.EngineError, match="no space left"),
        docker.postgres(Path("docker-compose.yml")),
    ):
        pass


def test_without_perl_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(tap.ToolMissingError, match="apt-get install perl"):
        tap.find_prover()


def test_without_pgtap_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(tap, "newest_source", lambda: None)
    with pytest.raises(tap.ToolMissingError, match="apt-get install pgtap"):
        tap.source()
