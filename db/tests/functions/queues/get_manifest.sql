-- get_manifest: what a surface answers, as its workers have said.
begin;
\ir ../../_clock.sql
select plan(7);

-- given a surface whose workers have not come yet
select pg_temp.freeze('2030-01-01 12:00+00');
select plane.create_queue('get_manifest');
select plane.create_queue('get_manifest-other');
select throws_ok($$ select plane.get_manifest('get_manifest') $$, 'PL503', 'no manifest yet', 'a surface without workers is not ready');

-- when they have
select plane.register_worker('w1', 'get_manifest');
select plane.register_manifest('get_manifest', '[
    {"name": "airports", "version": 2, "ttl_seconds": 60},
    {"name": "airports", "version": 1, "params": {"type": "object"}, "ttl_seconds": 300, "timeout_seconds": 5, "per_actor": true},
    {"name": "Airlines", "version": 1}]');
select plane.register_manifest('get_manifest-other', '[{"name": "airports", "version": 3}]');
select set_eq(
    $$ select name, version, params_schema, ttl_seconds, timeout_seconds, per_actor from plane.get_manifest('get_manifest') $$,
    $$ values ('Airlines', 1, '{}'::jsonb, 0, 30, false), ('airports', 1, '{"type": "object"}', 300, 5, true), ('airports', 2, '{}', 60, 30, false) $$,
    'every version of each operation is told, of this surface alone');
select results_eq(
    $$ select version from plane.get_manifest('get_manifest') where name = 'airports' $$, array[1, 2], 'the newest last');

-- when one of them is changed
select plane.register_manifest('get_manifest', '[{"name": "airports", "version": 2, "ttl_seconds": 0}]');
select results_eq(
    $$ select ttl_seconds from plane.get_manifest('get_manifest') where name = 'airports' and version = 2 $$, array[0], 'that is told');

-- when an edge asks
set local role plane_reader;
select lives_ok($$ select plane.get_manifest('get_manifest') $$, 'a reader may know');
reset role;

-- when the queue does not exist
select throws_ok(
    $$ select plane.get_manifest('get_manifest-none') $$, 'PL404', 'no such queue', 'a queue that does not exist is refused');
select throws_ok($$ select plane.get_manifest(null) $$, 'PL404', 'no such queue', 'NULL is no queue');

select * from finish();
rollback;
