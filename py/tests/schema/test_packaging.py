"""The wheel: it carries the SQL, and nothing that belongs to the checkout alone."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from ..support.postgres import ROOT
from ..support.sqltree import SHIPPED


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The contents of a wheel that was just built."""
    folder = tmp_path_factory.mktemp("wheel")
    built = subprocess.run(
        [
            *(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index"),
            *("--no-build-isolation", "--wheel-dir", folder, ROOT / "py"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "unpacked")
    return folder / "unpacked"


def test_a_wheel_migrates_with_the_sql_of_its_checkout(unpacked: Path) -> None:
    program = (
        "from pgplane.schema.tree import Tree; tree = Tree.shipped(); "
        "print(tree.root, tree.code().sha256, *(m.sha256 for m in tree.migrations()))"
    )
    told = subprocess.run(
        [sys.executable, "-B", "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=unpacked,
        env={"PYTHONPATH": str(unpacked)},
    )
    assert told.stdout.split() == [
        str(unpacked / "pgplane" / "db"),
        SHIPPED.code().sha256,
        *(migration.sha256 for migration in SHIPPED.migrations()),
    ]


def test_a_wheel_carries_no_tests_and_nothing_compiled(unpacked: Path) -> None:
    parts = {part for path in unpacked.rglob("*") for part in path.relative_to(unpacked).parts}
    assert not parts & {"tests", "__pycache__"}
    assert {"pgplane", "bootstrap.sql", "py.typed"} <= parts


@pytest.mark.parametrize("arguments", [["release", "9.9.9"], ["reference"]])
def test_a_wheel_writes_no_releases_and_no_reference(unpacked: Path, arguments: list[str]) -> None:
    before = sorted(unpacked.rglob("*"))
    refused = subprocess.run(
        [sys.executable, "-B", "-m", f"pgplane.schema.{arguments[0]}", *arguments[1:]],
        capture_output=True,
        text=True,
        check=False,
        cwd=unpacked,
        env={"PYTHONPATH": str(unpacked)},
    )
    assert refused.returncode == 1
    assert refused.stderr == "Error: this pgplane is installed: run it in a checkout\n"
    assert sorted(unpacked.rglob("*")) == before


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements.deploy.lock"])
def test_a_lock_pins_by_hash_and_names_no_address(lock: str) -> None:
    text = (ROOT / "py" / lock).read_text()
    assert "://" not in text
    entries = [line for line in text.splitlines() if line and not line.startswith((" ", "#"))]
    assert len(entries) > 20
    for entry in entries:
        assert "==" in entry, entry
        assert entry.endswith("\\"), entry
    assert text.count("--hash=sha256:") >= len(entries)
