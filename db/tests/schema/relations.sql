-- Rules for every table and view of schema plane at once.
begin;
select plan(10);

create temporary view plane_relation as
select c.oid, c.oid::regclass::text as name, c.relkind, c.relacl, c.relispartition, c.relowner
from pg_class c
where c.relnamespace = 'plane'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'S');

select is_empty(
    $$ select name from plane_relation where relowner <> 'plane_owner'::regrole $$,
    'every table, view and sequence is owned by plane_owner');

select is_empty(
    $$ select 'function ' || oid::regprocedure from pg_proc
       where pronamespace = 'plane'::regnamespace and proowner <> 'plane_owner'::regrole
       union all
       select 'type ' || oid::regtype from pg_type
       where typnamespace = 'plane'::regnamespace and typowner <> 'plane_owner'::regrole
       union all
       select 'schema ' || nspname from pg_namespace
       where nspname in ('plane', 'plane_meta') and nspowner <> 'plane_owner'::regrole $$,
    'every function, type and schema is owned by plane_owner');

select is_empty(
    $$ select r.name, a.grantee::regrole, a.privilege_type
       from plane_relation r, aclexplode(r.relacl) a
       where r.relkind not in ('v', 'm') and a.grantee <> r.relowner $$,
    'nobody has rights on a table or sequence');

select is_empty(
    $$ select r.name, a.grantee::regrole, a.privilege_type
       from plane_relation r, aclexplode(r.relacl) a
       where r.relkind in ('v', 'm') and a.grantee <> r.relowner
           and (a.grantee, a.privilege_type) <> ('plane_admin'::regrole, 'SELECT') $$,
    'views are read by plane_admin and by nobody else');

select is_empty(
    $$ select r.name from plane_relation r
       where r.relkind in ('v', 'm')
           and not has_table_privilege('plane_admin', r.oid, 'select') $$,
    'every view is granted to plane_admin');

select is_empty(
    $$ select r.ev_class::regclass, p.oid::regprocedure
       from pg_rewrite r
       join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid
       join pg_proc p on d.refclassid = 'pg_proc'::regclass and d.refobjid = p.oid
       where p.pronamespace = 'plane'::regnamespace and starts_with(p.proname, '_') $$,
    'no view calls a helper: whoever reads the view may not execute it');

select is_empty(
    $$ select attrelid::regclass, attname from pg_attribute
       where attrelid in (select oid from plane_relation) and attacl is not null $$,
    'no column has rights of its own');

select is_empty(
    $$ select conrelid::regclass, conname from pg_constraint
       where connamespace = 'plane'::regnamespace and contype <> 'n'
           and conrelid in (select oid from plane_relation where not relispartition)
           and conname !~ ('^' || (select relname from pg_class where oid = conrelid)
               || '_([a-z_]+_)?(pkey|key|fkey|check|excl)$') $$,
    'every constraint carries its table''s name and its kind');

select is_empty(
    $$ select conrelid::regclass, conname from pg_constraint f
       where f.connamespace = 'plane'::regnamespace and f.contype = 'f'
           and not exists (
               select from pg_index i
               where i.indrelid = f.conrelid and f.conkey <@ i.indkey::int2[]) $$,
    'every foreign key has an index to look its rows up by');

select is_empty(
    $$ select p.name from plane_relation p
       where p.relkind = 'p'
           and not exists (
               select from pg_inherits i
               join pg_class leaf on leaf.oid = i.inhrelid
               where i.inhparent = p.oid and pg_get_expr(leaf.relpartbound, leaf.oid) ~ 'TO \(MAXVALUE\)$') $$,
    'every partitioned table has a place for the highest id');

select * from finish();
rollback;
