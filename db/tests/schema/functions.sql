-- Rules for every function of schema plane at once: a new one cannot forget them.
begin;
\ir _catalog.sql
select plan(13);

select is_empty(
    $$ select signature from plane_function
       where not is_helper and not is_bound_at_creation
           and not coalesce(proconfig, '{}') @> array['search_path=pg_catalog, pg_temp'] $$,
    'every function that somebody may call pins its search path to pg_catalog, pg_temp, or is bound at creation');

select is_empty(
    $$ select signature from plane_function where not is_helper and not is_trigger and not is_definer $$,
    'every public function is security definer: its callers have no rights on tables');

select is_empty(
    $$ select signature from plane_function where is_helper and is_definer $$,
    'no helper is security definer: it runs with the rights of the function that calls it');

select is_empty(
    $$ select signature from plane_execute where grantee = 'PUBLIC' $$,
    'PUBLIC executes nothing');

select is_empty(
    $$ select signature || ' to ' || grantee from plane_execute where is_helper $$,
    'helpers are granted to nobody');

select is_empty(
    $$ select signature from plane_function f
       where not is_helper and not is_trigger
           and not exists (select from plane_execute e where e.signature = f.signature) $$,
    'every public function is granted to somebody');

select is_empty(
    $$ select f.signature || ': ' || argument.name
       from plane_function f
       join pg_proc p using (oid)
       cross join unnest(p.proargnames, p.proargmodes) as argument (name, mode)
       where coalesce(argument.mode, 'i') in ('i', 'b', 'v') and argument.name !~ '^p_[a-z_]+$' $$,
    'every argument is named p_…');

select is_empty(
    $$ select f.signature from plane_function f join pg_proc p using (oid)
       where p.pronargs > 0 and p.proargnames is null $$,
    'every argument has a name');

select is_empty(
    $$ select signature from plane_function
       where not is_helper and pg_get_function_arguments(oid) ~ '\mplane\._' $$,
    'no public function''s default calls a helper: the caller may not execute it');

select is_empty(
    $$ select name from plane_function group by name having count(*) > 1 $$,
    'no function is overloaded');

select is_empty(
    $$ select signature from plane_function where code ~* '\mwhen\s+others\M' $$,
    'nothing catches whatever comes (WHEN OTHERS)');

select is_empty(
    $$ select signature from plane_function
       where code ~* '\mexecute\s+(format\M|''|v_|p_|\()'
           and name not in ('_copy_range', '_drop_range', '_open_range', '_refresh_range', '_swap_range') $$,
    'no statement is put together from text (EXECUTE), but those that make and drop partitions');

select is_empty(
    $$ select signature || ' is ' || name from plane_function where name !~ '^_?[a-z]+(_[a-z]+)*$' $$,
    'names are lower case words');

select * from finish();
rollback;
