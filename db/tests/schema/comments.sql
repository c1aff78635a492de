-- Everything that a DBA meets says what it is; for functions: what they do, raise, and for whom they are.
begin;
\ir _catalog.sql
select plan(13);

select is_empty(
    $$ select signature from plane_function where comment = '' $$,
    'every function has a comment');

select is_empty(
    $$ select signature from plane_function
       where regexp_replace(comment, '\s*\m(Raises|Roles?:).*$', '') !~ '^[A-Z_].*\.$' $$,
    'a function''s comment begins with a sentence');

select is_empty(
    $$ select signature from plane_function where not is_helper and not is_trigger and comment !~ '\mRoles?: ' $$,
    'every public function says for which role it is');

select is_empty(
    $$ select signature, sqlstate from plane_raises
       except select signature, sqlstate from plane_announces
       order by 1, 2 $$,
    'every SQLSTATE that a function can raise is in its comment');

select is_empty(
    $$ select signature, sqlstate, message from plane_raises where by_helpers
       except select signature, sqlstate, message from plane_announces
       order by 1, 2 $$,
    'every message that a function raises, by itself or through helpers, is in its comment');

select is_empty(
    $$ select signature, sqlstate, message from plane_announces
       except select signature, sqlstate, message from plane_raises
       order by 1, 2 $$,
    'every error in a comment can be raised');

select is_empty(
    $$ select signature from plane_function
       where code ~ '\mraise\s+exception\s+(?!using\s+errcode\s*=\s*''\w{5}'',\s*message\s*=\s*'')' $$,
    'every error has an SQLSTATE and then a message, both constants');

select is_empty(
    $$ select f.signature, said.line[1]
       from plane_function f
       cross join regexp_matches(f.comment, '^.*\mRaises\M.*$', 'gn') as said (line)
       where said.line[1] !~ '^Raises \w{5} [^.]+\.$' $$,
    'a comment tells of errors in lines of their own: Raises, SQLSTATE, message');

select is_empty(
    $$ select f.signature, e.grantee from plane_execute e join plane_function f using (signature)
       where not f.is_helper
           and substring(f.comment from '\mRoles?: (.*)$') !~ ('\m' || e.grantee || '\M')
           and substring(f.comment from '\mRoles?: (.*)$') !~ '\m(every|all)\M' $$,
    'whoever may execute a function is named in its comment');

select is_empty(
    $$ select f.signature, named.role[1]
       from plane_function f
       cross join regexp_matches(substring(f.comment from '\mRoles?: (.*)$'), '\mplane_[a-z]+\M', 'g') as named (role)
       where not exists (
           select from plane_execute e where e.signature = f.signature and e.grantee = named.role[1]) $$,
    'whoever is named in a comment may execute the function');

select is_empty(
    $$ select c.oid::regclass from pg_class c
       where c.relnamespace in ('plane'::regnamespace, 'plane_meta'::regnamespace)
           and c.relkind in ('r', 'p', 'v', 'm', 'S') and not c.relispartition
           and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'i')
           and obj_description(c.oid, 'pg_class') is null $$,
    'every table, view and sequence has a comment');

select is_empty(
    $$ select t.oid::regtype from pg_type t
       join pg_class c on c.oid = t.typrelid and c.relkind = 'c'
       where t.typnamespace = 'plane'::regnamespace and obj_description(t.oid, 'pg_type') is null $$,
    'every composite type has a comment');

select is_empty(
    $$ select c.oid::regclass || '.' || a.attname
       from pg_class c
       join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
       where c.relnamespace = 'plane'::regnamespace
           and c.relkind in ('r', 'p', 'v', 'm', 'c') and not c.relispartition
           and col_description(c.oid, a.attnum) is null $$,
    'every column of every table, view and type has a comment');

select * from finish();
rollback;
