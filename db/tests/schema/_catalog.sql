-- What the catalog knows of every function of schema plane, as a temporary view for the rules to read.

create temporary view plane_function as
select
    p.oid,
    p.proname::text as name,
    p.oid::regprocedure::text as signature,
    starts_with(p.proname, '_') as is_helper,
    p.prosecdef as is_definer,
    p.prosqlbody is not null as is_bound_at_creation,
    p.proconfig,
    p.prorettype = 'trigger'::regtype as is_trigger,
    p.proowner::regrole::text as owner,
    coalesce(p.proacl, acldefault('f', p.proowner)) as acl,
    coalesce(obj_description(p.oid, 'pg_proc'), '') as comment,
    -- the body without its comments
    regexp_replace(pg_get_functiondef(p.oid), '--[^\n]*', '', 'g') as code
from pg_proc p
where p.pronamespace = 'plane'::regnamespace;

-- Who may execute what, owner apart; PUBLIC stands as 'PUBLIC'.
create temporary view plane_execute as
select f.name, f.signature, f.is_helper,
    case when a.grantee = 0 then 'PUBLIC' else a.grantee::regrole::text end as grantee
from plane_function f, aclexplode(f.acl) a
where a.grantee::regrole::text <> f.owner;

-- The SQLSTATEs that a function can raise, by itself or through the functions that it calls.
create temporary view plane_raises as
with recursive call (caller, callee) as (
    select f.oid, f.oid from plane_function f
    union
    select c.caller, callee.oid
    from call c
    join plane_function f on f.oid = c.callee
    join plane_function callee on f.code ~ ('\mplane\.' || callee.name || '\(')
)
select distinct f.signature, f.is_helper, raised.code[1] as sqlstate
from call c
join plane_function f on f.oid = c.caller
join plane_function callee on callee.oid = c.callee
cross join regexp_matches(callee.code, 'errcode\s*=\s*''(\w{5})''', 'g') as raised (code);

-- The SQLSTATEs that a comment announces.
create temporary view plane_announces as
select f.signature, f.is_helper, said.code[1] as sqlstate
from plane_function f
cross join regexp_matches(f.comment, '\m(PL\d{3}|(?:22|23|40|42|55|57)[0-9A-Z]{3})\M', 'g') as said (code)
where f.comment ~ '\mRaises\M';
