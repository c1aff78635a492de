"""Each guard taken from the SQL, one at a time: a test must notice."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ..support.postgres import ROOT, Server
from ..support.processes import PY
from .guards import GUARDS, Guard

pytestmark = pytest.mark.timeout(600)

TESTS = sorted({guard.test for guard in GUARDS})


def mutated(guard: Guard, folder: Path) -> Path:
    """A copy of db/ without the guard; fails where the guard's text is no longer what it was."""
    tree = folder / "db"
    shutil.copytree(ROOT / "db", tree)
    code = [*tree.glob("functions/**/*.sql"), *tree.glob("migrations/*.sql")]
    for name, text, instead in guard.changes:
        (file,) = [path for path in code if path.name == name]
        before = file.read_text()
        assert before.count(text) == 1, f"{name} does not have, just once: {text}"
        file.write_text(before.replace(text, instead))
    return tree


def run(test: str, server: Server, **environment: str) -> subprocess.CompletedProcess[str]:
    """A test in a process of its own."""
    command = (
        ["-m", "tests.pgtap", str(ROOT / test)]
        if test.endswith(".sql")
        else ["-m", "pytest", "-c", "pyproject.toml", "-q", "--no-header", test]
    )
    return subprocess.run(
        [sys.executable, *command],
        cwd=PY,
        env={**os.environ, "PLANE_TEST_URL": server.database_url("postgres"), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.name)
def test_a_guard_is_where_it_is_said_to_be(guard: Guard, tmp_path: Path) -> None:
    assert mutated(guard, tmp_path).is_dir()


@pytest.mark.long
@pytest.mark.parametrize("test", TESTS)
def test_it_passes_as_long_as_all_guards_are_there(test: str, server: Server) -> None:
    done = run(test, server)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.long
@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.name)
def test_a_guard_that_is_gone_is_missed(guard: Guard, server: Server, tmp_path: Path) -> None:
    done = run(guard.test, server, PLANE_TEST_TREE=str(mutated(guard, tmp_path)))
    said = done.stdout + done.stderr
    assert done.returncode == 1, said
    failed = "FAILED" if guard.test.endswith(".sql") else " failed"
    assert failed in done.stdout, said
