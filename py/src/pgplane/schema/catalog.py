"""The code that a database holds, as its catalog tells it, and how to bring it to another text.

CREATE OR REPLACE leaves behind what a text no longer has, and refuses a changed argument name,
result type or view column. Which objects must be dropped first is found by loading the text on
a clean schema inside a savepoint, comparing the two catalogs, and going back.
"""

from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Any

import psycopg
from psycopg import Connection, errors

from pgplane.schema.tree import CODE_BEGINS, CODE_ENDS, FILE_HEADER, Code, MigrationError

GROUP_ROLES = ("plane_producer", "plane_worker", "plane_reader", "plane_relay", "plane_admin")

OBJECTS = """
    select 'pg_proc'::regclass::oid as class, p.oid,
        array[pg_get_function_result(p.oid), pg_get_function_arguments(p.oid)] as contract,
        case p.prokind when 'a' then '' else pg_get_functiondef(p.oid) end as definition,
        p.proacl as acl
    from pg_proc p
    where p.pronamespace = 'plane'::regnamespace
    union all
    select 'pg_class'::regclass, c.oid,
        array(
            select format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod))
            from pg_attribute a
            where a.attrelid = c.oid and a.attnum > 0
            order by a.attnum
        ),
        format('%s %s', c.reloptions, pg_get_viewdef(c.oid)),
        c.relacl
    from pg_class c
    where c.relnamespace = 'plane'::regnamespace and c.relkind = 'v'
    union all
    select 'pg_trigger'::regclass, t.oid, '{}', pg_get_triggerdef(t.oid), null
    from pg_trigger t
    join pg_class c on c.oid = t.tgrelid
    where c.relnamespace = 'plane'::regnamespace and not t.tgisinternal and t.tgparentid = 0
"""

DESCRIBE = f"""
    select identified.type, identified.identity, o.contract,
        format(
            '%s %s %s',
            o.definition,
            array(select item::text from unnest(o.acl) item order by 1),
            (
                select array_agg(d.description order by d.objsubid)
                from pg_description d
                where d.classoid = o.class and d.objoid = o.oid
            )
        )
    from ({OBJECTS}) o
    cross join pg_identify_object(o.class, o.oid, 0) identified
"""

VIEWS = """
    select format('create or replace view plane.%I %s as %s', c.relname,
        'with (' || array_to_string(c.reloptions, ', ') || ')', pg_get_viewdef(c.oid))
    from pg_class c
    where c.relnamespace = 'plane'::regnamespace and c.relkind = 'v'
"""

# A view depends through its rule, and is depended upon through its row type as well.
DEPENDENCIES = f"""
    with object as materialized ({OBJECTS}),
    alias (class, oid, object_class, object_oid) as (
        select class, oid, class, oid from object
        union all
        select 'pg_rewrite'::regclass, r.oid, o.class, o.oid
        from object o join pg_rewrite r on o.class = 'pg_class'::regclass and r.ev_class = o.oid
        union all
        select 'pg_type'::regclass, t.oid, o.class, o.oid
        from object o
        join pg_type row on o.class = 'pg_class'::regclass and row.typrelid = o.oid
        join pg_type t on t.oid in (row.oid, row.typarray)
    )
    select distinct dependent.type, dependent.identity, referenced.type, referenced.identity
    from pg_depend d
    join alias a on a.class = d.classid and a.oid = d.objid
    join alias b on b.class = d.refclassid and b.oid = d.refobjid
    cross join pg_identify_object(a.object_class, a.object_oid, 0) dependent
    cross join pg_identify_object(b.object_class, b.object_oid, 0) referenced
    where (a.object_class, a.object_oid) <> (b.object_class, b.object_oid)
"""


class CodeError(MigrationError):
    """A code text does not load; names the file where PostgreSQL does, and its error."""


@dataclass(frozen=True, order=True)
class Name:
    """What DROP needs to know of an object: `function`, `plane.enqueue(text, …)`."""

    kind: str
    identity: str

    def __str__(self) -> str:
        return f"{self.kind} {self.identity}"


@dataclass(frozen=True)
class Shape:
    """`contract`: what CREATE OR REPLACE cannot change; `definition`: all of it, with grants."""

    contract: tuple[str, ...]
    definition: str


def objects(connection: Connection[Any]) -> dict[Name, Shape]:
    """The functions, views and triggers in schema plane."""
    return {
        Name(kind, identity): Shape(tuple(contract), definition)
        for kind, identity, contract, definition in connection.execute(DESCRIBE)
    }


def loading(code: Code | None) -> str:
    """The whole text that loads the code, to be run in one transaction as plane_owner.

    Grants are said by the files alone: what a group role holds is taken back first, so that a
    grant that is no longer said is gone; grants to a deployer's own roles stay. None: no code.
    """
    if code is None:
        return "delete from plane_meta.code;\n"
    roles = ", ".join(GROUP_ROLES)
    release = f"'{code.release}'" if code.release else "null"
    return f"""\
set local check_function_bodies = off;
revoke all on all routines in schema plane from public, {roles};
revoke all on all tables in schema plane from public, {roles};

{CODE_BEGINS}
{code.sql}{CODE_ENDS}

insert into plane_meta.code (release, sha256)
values ({release}, '{code.sha256}')
on conflict (one_row) do update
set release = excluded.release, sha256 = excluded.sha256,
    loaded_at = default, loaded_by = default;
"""


def drops(connection: Connection[Any], code: Code | None) -> list[Name]:
    """What must be dropped before the code loads, dependents first.

    Runs in the caller's transaction and leaves no trace in it.
    """
    before = objects(connection)
    if not before:
        return []
    with connection.transaction(force_rollback=True):
        for name in before:
            verb = f"drop {name.kind} if exists {name.identity} cascade"
            connection.execute(verb.encode())
        _load_as_it_is(connection, code)
        after = objects(connection)
    doomed = {
        name
        for name, shape in before.items()
        if name not in after or not _replaceable(name, shape, after[name])
    }
    dependencies = [
        (Name(*row[:2]), Name(*row[2:])) for row in connection.execute(DEPENDENCIES).fetchall()
    ]
    while more := {one for one, other in dependencies if other in doomed} - doomed:
        doomed |= more
    sorter: TopologicalSorter[Name] = TopologicalSorter(dict.fromkeys(sorted(doomed), ()))
    for dependent, referenced in sorted(dependencies):
        if dependent in doomed and referenced in doomed:
            sorter.add(referenced, dependent)
    return list(sorter.static_order())


def _replaceable(name: Name, old: Shape, new: Shape) -> bool:
    if name.kind == "view":
        return new.contract[: len(old.contract)] == old.contract
    return new.contract == old.contract


def load(connection: Connection[Any], code: Code | None) -> list[Name]:
    """Bring the database's code to the given text; returns what was dropped on the way.

    Call it in a transaction, as plane_owner. Never cascades: where something of the deployer's
    depends on a dropped object, the error names it. Raises CodeError; LockNotAvailable as it is.
    """
    dropped = drops(connection, code)
    for name in dropped:
        _run(connection, f"drop {name}", str(name))
    _load_as_it_is(connection, code)
    return dropped


def _load_as_it_is(connection: Connection[Any], code: Code | None) -> None:
    """Run a code text file by file, so that an error can say which."""
    first, *files = FILE_HEADER.split(loading(code))
    _run(connection, first, "preparing")
    for name, text in zip(files[::2], files[1::2], strict=True):
        _run(connection, text, name)


def _run(connection: Connection[Any], text: str, what: str) -> None:
    try:
        connection.execute(text.encode())
    except errors.LockNotAvailable:
        raise
    except psycopg.Error as failed:
        raise CodeError(f"{what}: {failed}") from failed


def drift(connection: Connection[Any], code: Code) -> list[Name]:
    """Objects that differ from the text: changed by hand, missing, or not of the text at all."""
    before = _restored(connection)
    with connection.transaction(force_rollback=True):
        load(connection, code)
        after = _restored(connection)
    return sorted(
        name for name in before.keys() | after.keys() if before.get(name) != after.get(name)
    )


def _restored(connection: Connection[Any]) -> dict[Name, Shape]:
    """The objects as a dump restores them: PostgreSQL then tells a view in other words."""
    with connection.transaction(force_rollback=True):
        for (view,) in connection.execute(VIEWS).fetchall():
            connection.execute(view.encode())
        return objects(connection)
