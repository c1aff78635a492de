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

-- Which functions a function calls, itself among them; by_helpers: helpers alone lead there.
create temporary view plane_call as
with recursive call (caller, callee, by_helpers) as (
    select f.oid, f.oid, true from plane_function f
    union
    select c.caller, callee.oid, c.by_helpers and callee.is_helper
    from call c
    join plane_function f on f.oid = c.callee
    join plane_function callee on f.code ~ ('\mplane\.' || callee.name || '\(')
)
select caller, callee, bool_or(by_helpers) as by_helpers
from call
group by caller, callee;

-- The errors that a function can raise, by itself or through the functions that it calls.
create temporary view plane_raises as
with own (oid, sqlstate, message) as (
    select f.oid, said.error[1], replace(said.error[2], $$''$$, $$'$$)
    from plane_function f
    cross join regexp_matches(f.code, $$errcode\s*=\s*'(\w{5})',\s*message\s*=\s*'((?:[^']|'')*)'$$, 'g') as said (error)
    union all
    select f.oid, '55P03', 'canceling statement due to lock timeout'
    from plane_function f
    where not f.is_helper
        and f.proconfig::text ~ '\mlock_timeout='
        and f.code !~* '\mwhen\s+lock_not_available\M'
)
select f.signature, f.is_helper, o.sqlstate, o.message, bool_or(c.by_helpers) as by_helpers
from plane_call c
join plane_function f on f.oid = c.caller
join own o on o.oid = c.callee
group by f.signature, f.is_helper, o.sqlstate, o.message;

-- The errors that a comment announces, a line each.
create temporary view plane_announces as
select f.signature, f.is_helper, said.error[1] as sqlstate, said.error[2] as message
from plane_function f
cross join regexp_matches(f.comment, '^Raises (\w{5}) (.+)\.$', 'gn') as said (error);
