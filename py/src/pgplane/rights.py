"""Rights: what a login of the client database may change there."""

from typing import NamedTuple

from psycopg.rows import args_row

from pgplane.session import Connection


class Writable(NamedTuple):
    """A right to change something: what it is, and the statement that takes it away."""

    right: str
    remedy: str


_WRITABLE = """
with reach as (
    select r.oid, r.rolname
      from pg_catalog.pg_roles r
     where pg_catalog.pg_has_role(session_user, r.oid, 'member')
), super as (
    select pg_catalog.format('%I is a superuser', r.rolname) as thing,
           'create role <reader> login; grant pg_read_all_data to <reader>' as remedy
      from pg_catalog.pg_roles r
     where r.rolname = session_user
       and r.rolsuper
), relation as (
    select c.oid, c.relowner as owner, c.relacl as acl,
           pg_catalog.format('%I.%I', n.nspname, c.relname) as name
      from pg_catalog.pg_class c
      join pg_catalog.pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p', 'v', 'm', 'f')
       and n.nspname not in ('pg_catalog', 'information_schema')
       and n.nspname !~ '^pg_(toast|temp)'
), thing as (
    select 'table' as kind, name, owner, acl, '' as part
      from relation
    union all
    select 'table', r.name, null, a.attacl, pg_catalog.format(' (%I)', a.attname)
      from relation r
      join pg_catalog.pg_attribute a on a.attrelid = r.oid
     where a.attacl is not null
    union all
    select 'schema', pg_catalog.quote_ident(n.nspname), n.nspowner, n.nspacl, ''
      from pg_catalog.pg_namespace n
     where n.nspname !~ '^pg_(toast|temp)'
    union all
    select 'database', pg_catalog.quote_ident(d.datname), d.datdba, d.datacl, ''
      from pg_catalog.pg_database d
     where d.datname = pg_catalog.current_database()
), found as (
    select pg_catalog.format('it owns %s %s', t.kind, t.name) as thing,
           pg_catalog.format('alter %s %s owner to <another role>', t.kind, t.name) as remedy
      from thing t
      join reach on reach.oid = t.owner
    union all
    select pg_catalog.format('%s%s on %s %s', a.privilege_type, t.part, t.kind, t.name),
           pg_catalog.format('revoke %s%s on %s %s from %s', pg_catalog.lower(a.privilege_type),
               t.part, t.kind, t.name, coalesce(pg_catalog.quote_ident(reach.rolname), 'public'))
      from thing t
     cross join lateral pg_catalog.aclexplode(t.acl) a
      left join reach on reach.oid = a.grantee
     where (a.grantee = 0 or reach.oid is not null)
       and a.grantee is distinct from t.owner
       and a.privilege_type = any (
               case t.kind when 'table' then array['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE']
                           else array['CREATE'] end)
    union all
    select pg_catalog.format('it is a member of %I%s', r.rolname,
               case when r.rolsuper then ', a superuser' end),
           pg_catalog.format('revoke %I from %I', r.rolname, reach.rolname)
      from pg_catalog.pg_roles r
      join pg_catalog.pg_auth_members m on m.roleid = r.oid
      join reach on reach.oid = m.member
     where r.rolsuper
        or r.rolname in ('pg_write_all_data', 'pg_write_server_files', 'pg_execute_server_program')
)
select thing, remedy from super
union
select thing, remedy from found where not exists (select from super)
 order by 1
"""


async def writable(connection: Connection) -> list[Writable]:
    """What this login may change, by itself or through a role it can become; [] if it only reads.

    Looked at: INSERT, UPDATE, DELETE, TRUNCATE, columns included, on every table and view outside
    the system schemas; CREATE in every schema but temporary ones and in the database; ownership;
    membership in roles that write everything, superusers among them.
    """
    async with connection.cursor(row_factory=args_row(Writable)) as cursor:
        await cursor.execute(_WRITABLE)
        return await cursor.fetchall()
