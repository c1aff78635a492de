"""Bad input for every argument of every public function: a clear error, and nothing changed.

The calls are made from the catalog: a new function is tested as soon as it has its example.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest

from . import bad_values, examples
from .accepted import ACCEPTED

Connection = psycopg.Connection[tuple[Any, ...]]


@dataclass(frozen=True)
class Function:
    """A public function: types and defaults (SQL) by argument, and the errors it announces."""

    name: str
    types: dict[str, str]
    defaults: dict[str, str | None]
    announced: set[str]


@dataclass(frozen=True)
class Bad:
    """A value for one argument; `argument` may go on with a member of it."""

    argument: str
    label: str
    sql: str


@pytest.fixture
def connection(queue_db: str) -> Iterator[Connection]:
    """A session of the situation that the examples are of."""
    with psycopg.connect(queue_db, autocommit=True) as connection:
        connection.execute(examples.SITUATION)
        yield connection


def test_every_function_has_an_example_that_works(connection: Connection) -> None:
    known = functions(connection)
    assert {function.name for function in known} == set(examples.EXAMPLES)
    for function in known:
        assert set(examples.EXAMPLES[function.name]) == set(function.types), function.name
        with connection.transaction(force_rollback=True):
            rows = connection.execute(call(function)).fetchall()
        assert rows or function.name in examples.SILENT, function.name
        refusals = (None, False, "lost")
        assert not any(row[0] is answer for row in rows for answer in refusals), function.name


def test_bad_input_is_refused_by_a_clear_error_and_changes_nothing(connection: Connection) -> None:
    used: set[int] = set()
    found = [
        f"{function.name}({bad.argument} => {bad.label}): {fault}"
        for function in functions(connection)
        for bad in bad_input(connection, function)
        if (fault := fault_of(connection, function, bad, used)) is not None
    ]
    assert not found, "\n".join(found)
    idle = [rule.why for i, rule in enumerate(ACCEPTED) if i not in used]
    assert not idle, f"nothing is accepted by {idle}"


def functions(connection: Connection) -> list[Function]:
    """The public functions, as the catalog knows them."""
    return [
        Function(
            name,
            dict(zip(names, types, strict=True)),
            dict(zip(names, defaults, strict=True)),
            {line[7:-1] for line in comment.splitlines() if line.startswith("Raises ")},
        )
        for name, names, types, defaults, comment in connection.execute(
            """
            select p.proname, coalesce(p.proargnames[:p.pronargs], '{}'),
                array(select format_type(a.type, null) from unnest(p.proargtypes) as a (type)),
                array(
                    select pg_get_function_arg_default(p.oid, n)
                    from generate_series(1, p.pronargs) as n),
                obj_description(p.oid, 'pg_proc')
            from pg_proc p
            where p.pronamespace = 'plane'::regnamespace and not starts_with(p.proname, '_')
                and p.prorettype <> 'trigger'::regtype
            order by p.proname
            """
        )
    ]


def call(function: Function, **changed: str) -> str:
    """The example of a function, with some arguments changed."""
    arguments = {**examples.EXAMPLES[function.name], **changed}
    said = (f"{name} => ({sql})::{function.types[name]}" for name, sql in arguments.items())
    return f"select * from plane.{function.name}({', '.join(said)})"


def bad_input(connection: Connection, function: Function) -> Iterator[Bad]:
    """What to try with each argument of a function."""
    for argument, of_type in function.types.items():
        example = examples.EXAMPLES[function.name][argument]
        element = of_type.removesuffix("[]")
        single = argument.removesuffix("s") if element != of_type else argument
        values = {**bad_values.by_type(element, connection.info.server_version)}
        values |= bad_values.BY_NAME.get(single, {})
        if element != of_type:
            for label, sql in values.items():
                yield Bad(f"{argument}[]", label, f"array[({sql})::{element}]")
            values = {
                "NULL": "null",
                "of no element": "'{}'",
                "of one element more": f"{example} || {example}",
                "of an array": f"array[{example}]",
            }
        if (function.defaults[argument] or "").startswith("NULL::"):
            del values["NULL"]
        if of_type == "jsonb":
            (shown,) = connection.execute(f"select ({example})::jsonb").fetchone() or (None,)
            del values["array" if isinstance(shown, list) else "object"]
            yield from bad_members(argument, shown, function.name)
        for label, sql in values.items():
            yield Bad(argument, label, sql)


def bad_members(argument: str, shown: Any, function: str) -> Iterator[Bad]:
    """What to try with the members of an object, or of an array's objects, or with its elements."""
    if bad_values.FREE & {argument, f"{function} {argument}"}:
        return
    in_array = isinstance(shown, list)
    good = shown[0] if in_array else shown

    def bad(at: str, label: str, value: Any) -> Bad:
        text = json.dumps([value] if in_array else value).replace("'", "''")
        return Bad(at, label, f"'{text}'")

    for label, value in bad_values.MEMBERS.items() if in_array else ():
        yield bad(f"{argument}[]", label, value)
    if not isinstance(good, dict):
        return
    yield bad(argument, "with one more", {**good, "no_such": 1})
    for member, suits in good.items():
        at = f"{argument}.{member}"
        yield bad(at, "left out", {name: good[name] for name in good if name != member})
        for label, value in bad_values.MEMBERS.items():
            if not isinstance(suits, dict | bool) or type(value) is not type(suits):
                yield bad(at, label, {**good, member: value})


def fault_of(connection: Connection, function: Function, bad: Bad, used: set[int]) -> str | None:
    """What is wrong with the answer to a bad value; None when nothing is."""
    covering = {
        i: rule
        for i, rule in enumerate(ACCEPTED)
        if rule.covers(function.name, bad.argument, bad.label)
    }
    used.update(covering)
    argument = bad.argument.partition(".")[0].removesuffix("[]")
    before = everything(connection)
    try:
        with connection.transaction(force_rollback=True):
            connection.execute(call(function, **{argument: bad.sql}))
            after = everything(connection)
    except psycopg.Error as error:
        if covering:
            return f"is refused: {error.diag.message_primary}"
        return fault_of_error(error, function, bad) or difference(before, everything(connection))
    if not covering:
        return "is accepted"
    if all(rule.changes for rule in covering.values()):
        return None
    return difference(before, after)


def fault_of_error(error: psycopg.Error, function: Function, bad: Bad) -> str | None:
    """What is unclear about an error: it is one that the function announces, and has a hint."""
    said = error.diag
    if "function plane." not in (said.context or ""):
        expected = bad.label in bad_values.REFUSED_BY_POSTGRESQL
        return None if expected else f"does not reach the function: {error}"
    if f"{said.sqlstate} {said.message_primary}" not in function.announced:
        return f"is refused by what nobody announced: {said.sqlstate} {said.message_primary}"
    if not said.message_hint or not said.message_detail:
        return f"is refused without a hint and a detail: {said.message_primary}"
    return None


def everything(connection: Connection) -> dict[str, str]:
    """A fingerprint of each table, and where each sequence stands."""
    prints = [
        f"select '{name}', md5(string_agg(t::text, ' ' order by t::text)) from plane.{name} t"
        if kind != "S"
        else f"select '{name}', concat(last_value, is_called) from plane.{name}"
        for name, kind in connection.execute(
            "select relname, relkind::text from pg_class where relnamespace = 'plane'::regnamespace"
            " and relkind in ('r', 'p', 'S') and not relispartition"
        )
    ]
    return dict(connection.execute(" union all ".join(prints)).fetchall())


def difference(before: dict[str, str], after: dict[str, str]) -> str | None:
    """Where something has changed."""
    changed = [name for name in before if before[name] != after[name]]
    return f"changes {', '.join(changed)}" if changed else None
