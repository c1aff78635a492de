-- register_manifest: a surface's operations, as its workers know them.
begin;
\ir ../../_clock.sql
select plan(40);

create function pg_temp.operations() returns table (operation text) language sql as $$
    select concat_ws(' ', o.name, o.version, o.params_schema, o.ttl_seconds, o.timeout_seconds, o.per_actor)
    from plane.operation o join plane.queue q on q.id = o.queue_id
    where q.name = 'register_manifest'
    order by o.name, o.version
$$;

-- given a surface
select pg_temp.freeze('2030-01-01 12:00+00');
select plane.create_queue('register_manifest');

-- when a worker registers its operations
select lives_ok($$ select plane.register_manifest('register_manifest', '[
    {"name": "airports", "version": 1, "params": {"type": "object"}, "ttl_seconds": 300, "timeout_seconds": 5, "per_actor": true},
    {"name": "flights.by-day:x_9", "version": 2}]') $$, 'a manifest is taken');
select results_eq(
    'select * from pg_temp.operations()',
    array['airports 1 {"type": "object"} 300 5 t', 'flights.by-day:x_9 2 {} 0 30 f'],
    'each operation is noted, with a default for what it does not say');

-- when a worker of the next release registers
select pg_temp.later('1 h');
select plane.register_manifest('register_manifest', '[
    {"name": "airports", "version": 2, "ttl_seconds": 60},
    {"name": "flights.by-day:x_9", "version": 2, "timeout_seconds": 45}]');
select results_eq(
    'select * from pg_temp.operations()',
    array['airports 1 {"type": "object"} 300 5 t', 'airports 2 {} 60 30 f', 'flights.by-day:x_9 2 {} 0 45 f'],
    'a version that is named changes, a version that is not stays');
select pg_temp.later('1 h');
select plane.register_manifest('register_manifest', '[{"name": "airports", "version": 2, "ttl_seconds": 60}]');
select results_eq(
    $$ select o.registered_at from plane.operation o join plane.queue q on q.id = o.queue_id
       where q.name = 'register_manifest' order by o.name, o.version $$,
    array['2030-01-01 12:00+00', '2030-01-01 13:00+00', '2030-01-01 13:00+00']::timestamptz[],
    'an entry that says the same as before is not written again');

-- when a manifest is unusual, yet well formed
select lives_ok(
    $$ select plane.register_manifest('register_manifest', '[]') $$, 'a worker may have no operation at all');
select lives_ok(
    $$ select plane.register_manifest('register_manifest', '[{"name": "twice", "version": 1}, {"name": "twice", "version": 1}]') $$,
    'an entry may come twice');
select lives_ok(
    $$ select plane.register_manifest('register_manifest', '[{"name": "edge", "version": 1000000, "ttl_seconds": 31536000, "timeout_seconds": 604800}]') $$,
    'the largest numbers are taken');
select lives_ok(
    $$ select plane.register_manifest('register_manifest', '[{"name": "a", "version": 1, "ttl_seconds": 0, "timeout_seconds": 1, "per_actor": false}]') $$,
    'and so are the smallest');
select lives_ok(
    $$ select plane.register_manifest('register_manifest', '[{"name": "decimal", "version": 1.0, "ttl_seconds": 6e1}]') $$,
    'a whole number may be written as a decimal');
select results_eq(
    $$ select operation from pg_temp.operations() as operation where operation ~ '^(twice|decimal)' $$,
    array['decimal 1 {} 60 30 f', 'twice 1 {} 0 30 f'], 'and is one');

-- when the manifest is none
select throws_ok(
    $$ select plane.register_manifest('register_manifest-none', '[]') $$,
    'PL404', 'no such queue', 'a queue that does not exist is refused');
select throws_ok(
    $$ select plane.register_manifest(null, '[]') $$, 'PL404', 'no such queue', 'NULL is no queue');

create function pg_temp.refuses_manifest(p_operations text, p_what text) returns text language sql as $$
    select throws_ok(format('select plane.register_manifest(''register_manifest'', %L)', p_operations),
        'PL422', 'operations must be a JSON array', p_what)
$$;
select pg_temp.refuses_manifest(null, 'NULL is no manifest');
select pg_temp.refuses_manifest('null', 'a JSON null is no manifest');
select pg_temp.refuses_manifest('{"name": "ask", "version": 1}', 'an object is no manifest');
select pg_temp.refuses_manifest('"ask"', 'a string is no manifest');

select throws_ok(
    $$ select plane.register_manifest('register_manifest', jsonb_build_array(jsonb_build_object(
        'name', 'good', 'version', 1, 'params', jsonb_build_object('title', repeat('x', 1048576))))) $$,
    'PL413', 'a manifest is limited to 1 MiB', 'a manifest that nobody could serve is refused');

create function pg_temp.refuses(p_operation text, p_what text) returns text language sql as $$
    select throws_ok(
        format('select plane.register_manifest(''register_manifest'', %L)', '[{"name": "good", "version": 1}, ' || p_operation || ']'),
        'PL422', 'an operation of the manifest is not well formed', p_what)
$$;
select pg_temp.refuses('"ask"', 'an entry that is no object is refused');
select pg_temp.refuses('null', 'an entry that is null is refused');
select pg_temp.refuses('{"version": 1}', 'an operation needs a name');
select pg_temp.refuses('{"name": "", "version": 1}', 'an empty name is refused');
select pg_temp.refuses('{"name": "9lives", "version": 1}', 'a name begins with a letter');
select pg_temp.refuses('{"name": "a b", "version": 1}', 'a blank in a name is refused');
select pg_temp.refuses('{"name": "' || repeat('a', 101) || '", "version": 1}', 'a name of 101 characters is refused');
select pg_temp.refuses('{"name": true, "version": 1}', 'a name is a string');
select pg_temp.refuses('{"name": "ask"}', 'an operation needs a version');
select pg_temp.refuses('{"name": "ask", "version": 0}', 'versions begin at 1');
select pg_temp.refuses('{"name": "ask", "version": 1.5}', 'a version is a whole number');
select pg_temp.refuses('{"name": "ask", "version": "1"}', 'a version is a number');
select pg_temp.refuses('{"name": "ask", "version": 1000001}', 'versions end at a million');
select pg_temp.refuses('{"name": "ask", "version": [1]}', 'an array is no version');
select pg_temp.refuses('{"name": "ask", "version": 1, "params": []}', 'params is a JSON Schema, so an object');
select pg_temp.refuses('{"name": "ask", "version": 1, "ttl_seconds": -1}', 'a negative ttl is refused');
select pg_temp.refuses('{"name": "ask", "version": 1, "ttl_seconds": 31536001}', 'a ttl beyond a year is refused');
select pg_temp.refuses('{"name": "ask", "version": 1, "timeout_seconds": 0}', 'a timeout of nothing is refused');
select pg_temp.refuses('{"name": "ask", "version": 1, "timeout_seconds": 604801}', 'a timeout beyond a week is refused');
select pg_temp.refuses('{"name": "ask", "version": 1, "timeout_seconds": null}', 'a null timeout is refused');
select pg_temp.refuses('{"name": "ask", "version": 1, "per_actor": "yes"}', 'per_actor is true or false');
select pg_temp.refuses('{"name": "ask", "version": 1, "per_actor": null}', 'a null per_actor is refused');
select is_empty(
    $$ select from pg_temp.operations() as operation where operation ~ '^good' $$,
    'beside an entry that is refused nothing is noted');

select * from finish();
rollback;
