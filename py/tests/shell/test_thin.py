"""The shell is thin: what SQL it sends to the queue database, and from which module.

PostgreSQL's own parser decides what is SQL. `ledger/` holds every call of the queue database,
each one `select … from plane.fn(p_… => …)` or, for a single value, `select plane.fn(p_… => …)`;
`session.py` listens, `client_database.py` and `rights.py` set up and look at the client database;
the package `schema` loads DDL and reads the catalog. Any other module that holds a statement fails
here.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from itertools import chain
from pathlib import Path

import pglast
import psycopg
import pytest
from pglast import ast as tree
from pglast.visitors import Visitor

from pgplane import ledger
from pgplane.ledger import jobs, records, requests

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "pgplane"
LEDGER = sorted((PACKAGE / "ledger").glob("*.py"))
SESSIONS = [PACKAGE / name for name in ("session.py", "client_database.py", "rights.py")]
SCHEMA = PACKAGE / "schema"

BUILT = "something_put_in"

STARTS_LIKE_SQL = re.compile(
    r"\s*(with|select|insert|update|delete|merge|values|truncate|copy|call|do|lock|listen|unlisten|"
    r"notify|set|reset|show|discard|create|alter|drop|grant|revoke|comment|begin|commit|rollback|"
    r"savepoint|release|explain|prepare|execute|deallocate|declare|fetch|table|vacuum|analyze)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Statement:
    """A string of a module that PostgreSQL would run."""

    place: str
    text: str
    parsed: tree.Node

    def __str__(self) -> str:
        return f"{self.place}: {' '.join(self.text.split())}"


def statements(module: Path) -> Iterator[Statement]:
    """Every SQL statement in the string literals of a module, docstrings left out."""
    code = ast.parse(module.read_text())
    docstrings = {id(node.value) for node in ast.walk(code) if isinstance(node, ast.Expr)}
    pieces = {id(p) for s in ast.walk(code) if isinstance(s, ast.JoinedStr) for p in s.values}
    constants = _constants(code)
    for node in ast.walk(code):
        if not isinstance(node, ast.Constant | ast.JoinedStr) or id(node) in docstrings | pieces:
            continue
        text = _text(node, constants)
        if STARTS_LIKE_SQL.match(text):
            for parsed in _parse(text):
                yield Statement(f"{module.relative_to(PACKAGE)}:{node.lineno}", text, parsed)


def _constants(code: ast.Module) -> dict[str, str]:
    """The module's own string constants, `NAME = "…"`, with or without a type."""
    found = {}
    for statement in code.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            (target,) = (
                statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            )
            if isinstance(target, ast.Name) and isinstance(statement.value, ast.Constant):
                found[target.id] = str(statement.value.value)
    return found


def _text(literal: ast.Constant | ast.JoinedStr, constants: dict[str, str]) -> str:
    """A literal's text; in an f-string a constant is its value, anything else BUILT."""
    if isinstance(literal, ast.Constant):
        return literal.value if isinstance(literal.value, str) else ""
    return "".join(
        constants.get(ast.unparse(part.value), BUILT)
        if isinstance(part, ast.FormattedValue)
        else str(getattr(part, "value", BUILT))
        for part in literal.values
    )


def _parse(text: str) -> list[tree.Node]:
    try:
        return [raw.stmt for raw in pglast.parse_sql(numbered(text)) if raw.stmt]
    except pglast.parser.ParseError:
        return []


def numbered(text: str) -> str:
    """psycopg's placeholders as PostgreSQL's own: the same name is the same number."""
    numbers: dict[str, int] = {}

    def number(match: re.Match[str]) -> str:
        name = match[1] or f"#{len(numbers)}"
        return f"${numbers.setdefault(name, len(numbers) + 1)}"

    return re.sub(r"%(?:\((\w+)\))?[sbt]", number, text)


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def ledger_calls() -> list[Statement]:
    return [statement for module in LEDGER for statement in statements(module)]


def called_function(statement: Statement) -> tree.FuncCall:
    """The one function that the statement calls; fails on any statement that does more."""
    select = statement.parsed
    assert isinstance(select, tree.SelectStmt), f"{statement}"
    sources = select.fromClause or ()
    targets = select.targetList or ()
    if sources:
        (source,) = sources
        assert isinstance(source, tree.RangeFunction), f"reads more than a function: {statement}"
        call = (source.functions or ())[0][0]
        assert all(isinstance(t.val, tree.ColumnRef) for t in targets), f"computes: {statement}"
    else:
        (target,) = targets
        call = target.val
    assert isinstance(call, tree.FuncCall), f"{statement}"
    clauses = (select.whereClause, select.groupClause, select.havingClause, select.withClause)
    assert not any((*clauses, select.limitCount)), f"decides something itself: {statement}"
    return call


def name_of(call: tree.FuncCall) -> list[str]:
    """A function's name as written, schema first where it has one."""
    return [part.sval for part in call.funcname or ()]


def test_no_other_module_holds_sql() -> None:
    listed = {*LEDGER, *SESSIONS, *SCHEMA.rglob("*.py")}
    strays = [str(s) for module in modules() if module not in listed for s in statements(module)]
    assert not strays, "\n".join(strays)


def test_the_ledger_module_selects_from_plane_functions_only() -> None:
    calls = ledger_calls()
    assert len(calls) >= 10
    for statement in calls:
        assert name_of(called_function(statement))[:-1] == ["plane"], f"{statement}"


def test_every_argument_is_passed_by_name() -> None:
    for statement in ledger_calls():
        for argument in called_function(statement).args or ():
            assert isinstance(argument, tree.NamedArgExpr), f"{statement}"
            assert (argument.name or "").startswith("p_"), f"{statement}"


def test_the_ledger_module_builds_no_sql() -> None:
    assert [str(statement) for statement in ledger_calls() if BUILT in statement.text] == []


def test_the_session_modules_read_catalogs_and_set_up_sessions_only() -> None:
    allowed = (
        tree.SelectStmt,
        tree.VariableSetStmt,
        tree.VariableShowStmt,
        tree.ListenStmt,
        tree.UnlistenStmt,
        tree.DiscardStmt,
        tree.NotifyStmt,
    )
    found = [list(statements(module)) for module in SESSIONS]
    assert all(found)
    for statement in chain(*found):
        assert isinstance(statement.parsed, allowed), f"{statement}"
        assert "plane" not in schemas_of(statement.parsed), f"{statement}"


def schemas_of(node: tree.Node) -> set[str]:
    """The schemas of the relations and functions that a statement names."""
    found: set[str] = set()

    class Schemas(Visitor):
        def visit_RangeVar(self, _: object, node: tree.RangeVar) -> None:  # noqa: N802
            found.add(node.schemaname or "")

        def visit_FuncCall(self, _: object, node: tree.FuncCall) -> None:  # noqa: N802
            found.update(name_of(node)[:-1])

    Schemas()(node)
    return found


def test_every_call_fits_the_function_in_the_database(queue_db: str) -> None:
    with psycopg.connect(queue_db, autocommit=True) as connection:
        for number, statement in enumerate(ledger_calls()):
            try:
                connection.execute(f"prepare call_{number} as {numbered(statement.text)}".encode())
            except psycopg.Error as error:
                pytest.fail(f"{statement}\n{error}")


@pytest.mark.parametrize(
    ("kind", "record", "columns"),
    [
        ("claimed_job", records.Claim, jobs._CLAIM_COLUMNS),
        ("job_answer", records.Job, requests._JOB_COLUMNS),
    ],
)
def test_a_record_has_the_fields_of_its_type_in_their_order(
    queue_db: str, kind: str, record: type, columns: str
) -> None:
    with psycopg.connect(queue_db) as connection:
        attributes = connection.execute(
            "select attname from pg_attribute where attrelid = %s::regclass order by attnum",
            [f"plane.{kind}"],
        ).fetchall()
    assert [name for (name,) in attributes] == [field.name for field in fields(record)]
    assert [name for (name,) in attributes] == columns.replace('"', "").split(", ")


def test_every_call_is_handed_on_by_the_package() -> None:
    calls = {
        function.name
        for module in LEDGER
        if module.stem not in ("__init__", "calls")
        for function in ast.parse(module.read_text()).body
        if isinstance(function, ast.AsyncFunctionDef) and not function.name.startswith("_")
    }
    assert sorted(calls) == sorted(ledger.__all__)
