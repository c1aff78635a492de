"""The SQL reference: docs/reference.md, written from the catalog of a migrated database.

`python -m pgplane.schema.reference` writes it into a checkout.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import click
import psycopg
from psycopg.rows import class_row

from pgplane.schema import migrations, scratch
from pgplane.schema.tree import MigrationError, Tree

_FUNCTIONS = """
    select p.proname as name,
        pg_get_function_arguments(p.oid) as arguments,
        pg_get_function_result(p.oid) as result,
        obj_description(p.oid, 'pg_proc') as comment
    from pg_proc p
    where p.pronamespace = 'plane'::regnamespace and p.proname !~ '^_' and p.prokind = 'f'
    order by p.proname
"""

_RELATIONS = """
    select c.relname as name,
        case c.relkind
            when 'c' then obj_description(c.reltype, 'pg_type')
            else obj_description(c.oid, 'pg_class')
        end as comment,
        array(
            select format('| `%%s` | %%s | %%s |', a.attname, format_type(a.atttypid, a.atttypmod),
                col_description(c.oid, a.attnum))
            from pg_attribute a
            where a.attrelid = c.oid and a.attnum > 0
            order by a.attnum
        ) as columns
    from pg_class c
    where c.relnamespace = 'plane'::regnamespace and c.relkind = %s
    order by c.relname
"""

_RAISES = re.compile(r"^Raises (\w{5}) (.+)\.$", re.MULTILINE)
_DEFAULT = re.compile(r" DEFAULT (.+?)(?:::[a-z ]+)?$")
_ROLE = re.compile(r"^Role: (.+)\.$", re.MULTILINE)


class Function(NamedTuple):
    """A public function as the catalog tells it."""

    name: str
    arguments: str
    result: str
    comment: str


class Relation(NamedTuple):
    """A view or a composite type, with its columns as they are printed."""

    name: str
    comment: str
    columns: list[str]


def render(connection: psycopg.Connection) -> str:
    """The reference as Markdown, from a database with the schema plane."""
    with connection.cursor(row_factory=class_row(Function)) as cursor:
        functions = cursor.execute(_FUNCTIONS).fetchall()
    with connection.cursor(row_factory=class_row(Relation)) as cursor:
        views = cursor.execute(_RELATIONS, ["v"]).fetchall()
        types = cursor.execute(_RELATIONS, ["c"]).fetchall()
    return "\n".join(_lines(functions, views, types)) + "\n"


def _lines(
    functions: list[Function], views: list[Relation], types: list[Relation]
) -> Iterator[str]:
    yield "# SQL reference"
    yield ""
    yield "Written from the catalog by `make reference`; the words are the objects' own comments."
    yield ""
    yield "[Functions](#functions) · [Types](#types) · [Views](#views) · [Errors](#errors)"
    yield ""
    yield "## Functions"
    for function in functions:
        yield from _function(function)
    yield ""
    yield "## Types"
    for kind in types:
        yield from _relation(kind)
    yield ""
    yield "## Views"
    for view in views:
        yield from _relation(view)
    yield ""
    yield "## Errors"
    yield ""
    yield "Own codes are of class `PL`; their last digits are the HTTP status."
    yield ""
    yield "| SQLSTATE | message | raised by |"
    yield "|---|---|---|"
    raised = defaultdict(list)
    for function in functions:
        for code, message in _RAISES.findall(function.comment):
            raised[code, message].append(f"`{function.name}`")
    for (code, message), names in sorted(raised.items()):
        yield f"| `{code}` | {message} | {', '.join(names)} |"


def _function(function: Function) -> Iterator[str]:
    roles = [role for line in _ROLE.findall(function.comment) for role in line.split(", ")]
    prose = _ROLE.sub("", _RAISES.sub("", function.comment)).strip()
    yield ""
    yield f"### {function.name}"
    yield ""
    yield "```sql"
    yield f"plane.{function.name}({_arguments(function.arguments)})"
    yield f"    returns {function.result.replace('TABLE', 'table').replace('SETOF', 'setof')}"
    yield "```"
    yield ""
    yield prose
    yield ""
    for code, message in _RAISES.findall(function.comment):
        yield f"- `{code}` {message}"
    yield f"- Role: {', '.join(f'`{role}`' for role in roles)}"


def _relation(relation: Relation) -> Iterator[str]:
    yield ""
    yield f"### {relation.name}"
    yield ""
    yield relation.comment
    yield ""
    yield "| column | type | what it is |"
    yield "|---|---|---|"
    yield from relation.columns


def _arguments(catalog: str) -> str:
    """One a line, as the function's file writes them."""
    if not catalog:
        return ""
    lines = [_DEFAULT.sub(_default, one) for one in catalog.split(", p_")]
    return "\n    " + ",\n    p_".join(lines) + "\n"


def _default(match: re.Match[str]) -> str:
    value = match[1]
    return f" default {'null' if value == 'NULL' else value}"


@click.command()
def main() -> None:
    """Write docs/reference.md."""
    try:
        tree = Tree.checkout()
        with scratch.database() as url:
            migrations.bootstrap(url, tree)
            migrations.migrate(url, tree)
            with psycopg.connect(url) as connection:
                text = render(connection)
    except MigrationError as refused:
        raise click.ClickException(str(refused)) from refused
    (tree.root.parent / "docs" / "reference.md").write_text(text)


if __name__ == "__main__":
    main()
