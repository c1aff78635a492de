"""Every code that a caller can be answered with is in docs/http.md, and no other."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from pgplane import ledger
from pgplane.edge.problems import from_ledger, internal
from pgplane.errors import ERRORS, Busy, Unavailable
from pgplane.schema.tree import Tree

ROOT = Path(__file__).resolve().parents[3]
SOURCE = ROOT / "py/src/pgplane"
SPEAKING = [
    *(SOURCE / "edge").rglob("*.py"),
    *(SOURCE / "worker").glob("*.py"),
    SOURCE / "operation.py",
    SOURCE / "surface.py",
]
REFUSING = {"Problem", "Refusal", "HttpError", "Full", "Quota", "_refuse", "_refusal"}
CODE = re.compile(r"(?=.{4})[A-Z]+(_[A-Z]+)*")
ROUTER = {(404, "NOT_FOUND"), (405, "METHOD_NOT_ALLOWED")}


def documented() -> set[tuple[int, str]]:
    rows = re.findall(
        r"^\| (\d{3}) \| (`[A-Z_`, ]+`) \|", (ROOT / "docs/http.md").read_text(), re.M
    )
    return {(int(status), code) for status, codes in rows for code in re.findall(r"\w+", codes)}


def written(*nodes: ast.expr) -> Iterator[tuple[int | None, str]]:
    """The codes among the first arguments of a refusal, each with the status before it."""
    status = None
    for node in nodes:
        for part in ast.walk(node):
            if isinstance(part, ast.Constant) and isinstance(part.value, int):
                status = part.value
            elif isinstance(part, ast.Constant) and CODE.fullmatch(str(part.value)):
                yield status, str(part.value)


def of_the_code() -> Iterator[tuple[int | None, str]]:
    for path in SPEAKING:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                if node.func.id in REFUSING:
                    yield from written(*node.args[:2])
            elif isinstance(node, ast.Tuple):
                yield from written(*node.elts[:2])


def of_the_ledger() -> set[tuple[int, str]]:
    """What becomes of the errors that the functions called here say they raise, and of outages."""
    edge = "".join(path.read_text() for path in (SOURCE / "edge").rglob("*.py"))
    called = set(re.findall(r"\bledger\.(\w+)", edge)) & set(ledger.__all__)
    assert "submit_request" in called
    files = [path for path in Tree.shipped().code_files() if path.stem in called]
    raised = {
        state for path in files for state in re.findall(r"^Raises (\w+)", path.read_text(), re.M)
    }
    raised |= {state for state, kind in ERRORS.items() if kind in (Busy, Unavailable)}
    problems = [from_ledger(ERRORS[state]("", sqlstate=state)) for state in raised]
    return {(problem.status, problem.code) for problem in [*problems, internal()]}


def test_the_tables_have_every_code_and_no_other() -> None:
    table = documented()
    code = set(of_the_code())
    paired = {(status, word) for status, word in code if status is not None}
    assert paired | of_the_ledger() | ROUTER <= table
    assert {word for _, word in table} == {word for _, word in code | of_the_ledger() | ROUTER}
