-- enqueue_many: many new jobs, all of them or none. What keys make of them: enqueue_many_keys.
begin;
\ir ../../_clock.sql
select plan(65);

create function pg_temp.add(p_jobs jsonb) returns table (ordinality bigint, job_id bigint, coalesced boolean) language sql as $$
    select * from plane.enqueue_many('enqueue_many', p_jobs)
$$;
create function pg_temp.refuses(p_element text, p_state text, p_message text, p_what text) returns text language sql as $$
    select throws_ok(
        format('select plane.enqueue_many(''enqueue_many'', %L)', '[{"operation": "good"}, ' || p_element || ']'),
        p_state, p_message, p_what)
$$;
create function pg_temp.detail(p_jobs jsonb) returns text language plpgsql as $$
declare
    v_detail text;
begin
    perform plane.enqueue_many('enqueue_many', p_jobs);
    return null;
exception
    when sqlstate '22023' or sqlstate 'PL422' or sqlstate 'PL413' then
        get stacked diagnostics v_detail = pg_exception_detail;
        return v_detail;
end;
$$;

-- given a queue
select pg_temp.freeze('2030-01-01 12:00+00');
select plane.create_queue('enqueue_many', p_max_dequeues => 4);

-- when jobs are enqueued together
select results_eq(
    $$ select ordinality, coalesced from pg_temp.add('[{"operation": "a"}, {"operation": "b"}, {"operation": "a"}]') $$,
    'values (1::bigint, false), (2, false), (3, false)',
    'each is a new job, told in the order given');
select results_eq(
    $$ select operation, version, params, envelope, scope_key, dedupe_key, serial_key, priority, status, dequeue_count, max_dequeues,
           available_at, created_at
       from plane.jobs where queue = 'enqueue_many' and operation = 'b' $$,
    $$ values ('b', null::integer, '{}'::jsonb, '{}'::jsonb, null::text, null::text, null::text, 0, 'pending', 0, 4,
        timestamptz '2030-01-01 12:00+00', timestamptz '2030-01-01 12:00+00') $$,
    'everything but the operation has the default of enqueue');
select is(
    array(select operation from plane.claim('enqueue_many', 'w1', 10)), array['a', 'b', 'a'],
    'and they are claimed in the order given');

-- when a job says everything
select job_id as full_one from pg_temp.add($$ [{"operation": "full", "params": {"to": "ann", "n": 9007199254740993.10},
    "envelope": {"client": "acme"}, "dedupe_key": "key-1", "serial_key": "line-1", "priority": -5,
    "available_at": "2030-01-01T13:00:00.5+00:00", "max_dequeues": 9, "version": 3.0}] $$) \gset
select results_eq(
    format('select operation, version, params::text, envelope, dedupe_key, serial_key, priority, status, max_dequeues,
        available_at from plane.jobs where id = %s', :full_one),
    $$ values ('full', 3, '{"n": 9007199254740993.10, "to": "ann"}', '{"client": "acme"}'::jsonb, 'key-1', 'line-1', -5,
        'pending', 9, timestamptz '2030-01-01 13:00:00.5+00') $$,
    'a job is kept as it was asked for, numbers digit for digit');

-- when nulls stand for what is not said
select job_id as null_one from pg_temp.add($$ [{"operation": "nulls", "dedupe_key": null, "serial_key": null,
    "available_at": null, "max_dequeues": null, "version": null}] $$) \gset
select results_eq(
    format('select version, dedupe_key, serial_key, max_dequeues, status from plane.jobs where id = %s', :null_one),
    $$ values (null::integer, null::text, null::text, 4, 'pending') $$, 'they are as good as nothing said');
select is_empty($$ select pg_temp.add('[]') $$, 'no jobs are none');
select count(*) from plane.claim('enqueue_many', 'w1', 100) \g /dev/null

-- when priorities differ
select count(*) from pg_temp.add('[{"operation": "low", "priority": 7}, {"operation": "high", "priority": -7},
    {"operation": "mid"}, {"operation": "high too", "priority": -7}]') \g /dev/null
select is(
    array(select operation from plane.claim('enqueue_many', 'w1', 10)), array['high', 'high too', 'mid', 'low'],
    'the more urgent go first, in the order given within one priority');
select is(
    (select array_agg(priority order by priority) from plane.jobs where queue = 'enqueue_many' and operation in ('low', 'high', 'mid')),
    array[-7, 0, 7], 'and each is kept with its priority');

-- when a queue has 32 priorities, and more are asked for
select plane.create_queue('enqueue_many-lanes');
select count(*) from plane.enqueue_many('enqueue_many-lanes',
    (select jsonb_agg(jsonb_build_object('operation', 'send', 'priority', n)) from generate_series(0, 39) as n)) \g /dev/null
select is(
    (select count(distinct priority) from plane.jobs where queue = 'enqueue_many-lanes'), 32::bigint, 'no more are kept apart');
select is(
    (select count(*) from plane.claim('enqueue_many-lanes', 'w1', 100)), 40::bigint, 'and every job is claimed');

-- when jobs have their time
select job_id as later_on from pg_temp.add('[{"operation": "now", "available_at": "-infinity"},
    {"operation": "past", "available_at": "2029-12-31"}, {"operation": "later", "available_at": "2030-01-01 13:00+01"},
    {"operation": "later", "available_at": "2030-01-01 12:00:01Z"}]') where ordinality = 4 \gset
select is(
    array(select operation from plane.claim('enqueue_many', 'w1', 10)), array['now', 'past', 'later'],
    'what is due already is ready at once');
select pg_temp.later('1 s');
select is(
    array(select job_id from plane.claim('enqueue_many', 'w1', 10)), array[:later_on]::bigint[],
    'what is not is ready from its moment on');

-- when there are thousands
select is(
    (select count(distinct job_id) from pg_temp.add(
        (select jsonb_agg(jsonb_build_object('operation', 'many', 'params', jsonb_build_object('n', n))) from generate_series(1, 5000) as n))),
    5000::bigint, 'thousands are jobs each');
select is(
    (select count(*) from (
        select row_number() over (order by id) as place, case operation when 'many' then (params ->> 'n')::bigint end as n
        from plane.jobs where queue = 'enqueue_many' and operation = 'many') as j where place = n),
    5000::bigint, 'with ids in the order given');
select is(
    (select count(*) from plane.claim('enqueue_many', 'w1', 10000)), 5000::bigint, 'and all can be claimed');

-- when a queue has a limit
select plane.create_queue('enqueue_many-small', p_max_depth => 3);
select throws_ok(
    $$ select plane.enqueue_many('enqueue_many-small', '[{"operation": "a"}, {"operation": "b"}, {"operation": "c"}, {"operation": "d"}]') $$,
    'PL429', 'the queue is full', 'a batch beyond the max_depth is refused, however empty the queue');
select is_empty($$ select from plane.jobs where queue = 'enqueue_many-small' $$, 'all of it');
select lives_ok(
    $$ select plane.enqueue_many('enqueue_many-small', '[{"operation": "a", "dedupe_key": "k"}, {"operation": "b"}]') $$,
    'one within it is taken');
select throws_ok(
    $$ select plane.enqueue_many('enqueue_many-small', '[{"operation": "c"}, {"operation": "d"}]') $$,
    'PL429', 'the queue is full', 'as long as there is room for all of it');
select lives_ok(
    $$ select plane.enqueue_many('enqueue_many-small', '[{"operation": "c"}, {"operation": "a", "dedupe_key": "k"}]') $$,
    'elements that join a live job need none');
select lives_ok(
    $$ select plane.enqueue_many('enqueue_many-small', '[{"operation": "a", "dedupe_key": "k"}]') $$,
    'nor does a batch of nothing else');
select throws_ok(
    $$ select plane.enqueue_many('enqueue_many-small', '[{"operation": "d", "dedupe_key": "new"}]') $$,
    'PL429', 'the queue is full', 'a full queue takes no more');
select is_empty(
    $$ select from plane.live_key k where not exists (select from plane.job j where j.id = k.job_id) $$,
    'and what it refused has left no key behind');

-- when it is no batch, or there is no queue
select throws_ok(
    $$ select plane.enqueue_many('enqueue_many-none', '[{"operation": "a"}]') $$,
    'PL404', 'no such queue', 'a queue that does not exist is refused');
select throws_ok($$ select plane.enqueue_many(null, '[]') $$, 'PL404', 'no such queue', 'NULL is no queue');
select throws_ok(
    $$ select plane.enqueue_many('enqueue_many', null) $$,
    'PL422', 'jobs must be a JSON array of objects', 'NULL is no batch');
select throws_ok(
    $$ select plane.enqueue_many('enqueue_many', '{"operation": "a"}') $$,
    'PL422', 'jobs must be a JSON array of objects', 'nor is an object');
select pg_temp.refuses('7', 'PL422', 'jobs must be a JSON array of objects', 'a number is no job');
select pg_temp.refuses('null', 'PL422', 'jobs must be a JSON array of objects', 'nor is a null');
select pg_temp.refuses('[]', 'PL422', 'jobs must be a JSON array of objects', 'nor is an array');

-- when an element has a key that is no argument
select pg_temp.refuses('{"operation": "a", "p_params": {}}', '22023', 'no such argument', 'an unknown key is refused');
select is(
    pg_temp.detail('[{"operation": "a"}, {"operation": "a", "priority": 1, "prioritty": 2}]'), 'element=2 argument=prioritty',
    'by its name and the number of the element');

-- when an argument has the wrong type
create function pg_temp.refuses_type(p_argument text, p_value text, p_what text) returns text language sql as $$
    select is(
        pg_temp.detail(jsonb_build_array('{"operation": "a"}'::jsonb, '{"operation": "a"}'::jsonb || jsonb_build_object(p_argument, p_value::jsonb))),
        format('element=2 argument=%s type=%s', p_argument, jsonb_typeof(p_value::jsonb)), p_what)
$$;
select pg_temp.refuses('{"operation": 7}', '22023', 'an argument has the wrong type', 'an operation is a string');
select pg_temp.refuses_type('operation', '["a"]', 'not an array');
select pg_temp.refuses_type('dedupe_key', '7', 'a dedupe key is a string');
select pg_temp.refuses_type('serial_key', '{}', 'a serial key is a string');
select pg_temp.refuses_type('priority', '"1"', 'a priority is a number');
select pg_temp.refuses_type('priority', '1.5', 'a whole one');
select pg_temp.refuses_type('max_dequeues', '[]', 'a budget is a number');
select pg_temp.refuses_type('version', 'true', 'a version is a number');
select pg_temp.refuses_type('available_at', '1893499200', 'a time is a string');
select pg_temp.refuses_type('available_at', '"tomorrow"', 'in ISO 8601');
select pg_temp.refuses_type('available_at', '"2030-02-30T00:00:00Z"', 'and one that there is');
select pg_temp.refuses_type('available_at', '"2030-01-01T24:30:00Z"', 'on every clock');

-- when an argument is out of range
create function pg_temp.refuses_range(p_argument text, p_what text) returns text language sql as $$
    select pg_temp.refuses('{"operation": "a", ' || p_argument || '}', '22023', 'an argument is out of range', p_what)
$$;
select pg_temp.refuses_range('"priority": null', 'a null is no priority');
select pg_temp.refuses_range('"priority": -32769', 'a priority below -32768 is refused');
select pg_temp.refuses_range('"priority": 1e30', 'as is one that no integer can hold');
select pg_temp.refuses_range('"max_dequeues": 0', 'a job needs one attempt at least');
select pg_temp.refuses_range('"max_dequeues": 1000001', 'and has a million at most');
select pg_temp.refuses_range('"version": 0', 'versions begin at 1');
select pg_temp.refuses_range('"version": 2147483648', 'and end');
select pg_temp.refuses_range('"dedupe_key": ""', 'an empty dedupe key is refused');
select pg_temp.refuses_range('"serial_key": "' || repeat('k', 201) || '"', 'a serial key of 201 characters is refused');
select pg_temp.refuses_range('"available_at": "infinity"', 'a job that would never be due is refused');
select matches(
    pg_temp.detail('[{"operation": "a"}, {"operation": "a"}, {"operation": "a", "version": 0}]'), '^element=3 priority=0 .*version=0 ',
    'each by the number of the element');

-- when an element is no job by its content
select pg_temp.refuses('{}', '22023', 'an operation has a name of 1 to 200 characters', 'a job has an operation');
select pg_temp.refuses('{"operation": null}', '22023', 'an operation has a name of 1 to 200 characters', 'which is not null');
select pg_temp.refuses('{"operation": ""}', '22023', 'an operation has a name of 1 to 200 characters', 'nor empty');
select is(pg_temp.detail('[{"operation": ""}]'), 'element=1 length=0', 'its element is named');
select pg_temp.refuses('{"operation": "a", "params": null}', 'PL422', 'params and envelope must be JSON objects', 'params are an object');
select pg_temp.refuses('{"operation": "a", "envelope": []}', 'PL422', 'params and envelope must be JSON objects', 'so is an envelope');
select throws_ok(
    $$ select pg_temp.add(jsonb_build_array('{"operation": "a"}'::jsonb,
        jsonb_build_object('operation', 'a', 'params', jsonb_build_object('a', repeat('x', 262144 - 8))))) $$,
    'PL413', 'params and envelope are limited to 256 KiB', 'params above 256 KiB are refused');
select pg_temp.refuses('{"operation": "a", "params": {"n": [1e131071, 1e131071]}}', 'PL413', 'params and envelope are limited to 256 KiB',
    'so are short ones with numbers that are long once written out');
select lives_ok(
    $$ select pg_temp.add(jsonb_build_array(
        jsonb_build_object('operation', 'large', 'params', jsonb_build_object('a', repeat('x', 262144 - 9))),
        jsonb_build_object('operation', 'large', 'params', jsonb_build_object('a', repeat('x', 262144 - 9))))) $$,
    'each element may have 256 KiB');

-- then nothing of a refused batch is there
select is_empty($$ select from plane.jobs where queue = 'enqueue_many' and operation = 'good' $$, 'a batch is taken whole or not at all');

select * from finish();
rollback;
