"""The command line: what it prints, and with which exit status it ends."""

import pytest
from click.testing import CliRunner, Result

from pgplane.cli import main


def pgplane(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


@pytest.fixture
def at(bare_db: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A bootstrapped database, named by PLANE_QUEUE_URL."""
    monkeypatch.delenv("PLANE_LISTEN_URL", raising=False)
    monkeypatch.setenv("PLANE_QUEUE_URL", bare_db)
    return bare_db


def test_a_database_goes_up_and_down(at: str) -> None:
    before = pgplane("status")
    assert before.exit_code == 1
    assert "not applied" in before.output
    assert "code: none" in before.output

    up = pgplane("migrate")
    assert up.exit_code == 0
    assert "applied   0001.ledger\n" in up.output
    assert "loaded    code " in up.output
    assert pgplane("migrate").output == "nothing to do\n"
    assert pgplane("verify").output == "the database is as the tree says\n"
    assert pgplane("status").exit_code == 0

    down = pgplane("revert", "--to", "0")
    assert down.exit_code == 0
    assert "reverted  0001.ledger\n" in down.output
    assert "dropped   function plane.enqueue(" in down.output
    gone = pgplane("verify")
    assert gone.exit_code == 1
    assert "0001.ledger is not applied\n" in gone.output


def test_it_has_the_operators_commands_only() -> None:
    assert sorted(main.commands) == sorted(
        ["bootstrap", "edge", "migrate", "revert", "status", "verify", "worker"]
    )


def test_a_refusal_is_one_line(at: str) -> None:
    refused = pgplane("bootstrap")
    assert refused.exit_code == 1
    assert refused.output == 'Error: schema "plane" already exists in this database\n'


def test_the_address_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLANE_LISTEN_URL", raising=False)
    monkeypatch.delenv("PLANE_QUEUE_URL", raising=False)
    refused = pgplane("migrate")
    assert refused.exit_code == 1
    assert refused.output.startswith("Error: set PLANE_QUEUE_URL")


def test_a_dead_database_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANE_QUEUE_URL", "postgresql://127.0.0.1:1/none")
    refused = pgplane("status")
    assert refused.exit_code == 1
    assert "Error: queue database: " in refused.output
    assert "Connection refused" in refused.output


def test_a_wrong_setting_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANE_CONCURRENCY", "many")
    refused = pgplane("worker", "flights.operations:surface")
    assert refused.exit_code == 1
    assert refused.output.startswith("Error: PLANE_CONCURRENCY: ")
