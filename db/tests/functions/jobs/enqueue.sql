-- enqueue: one new job. What a dedupe key or a serial key makes of it: enqueue_coalescing, enqueue_serial.
begin;
\ir ../../_clock.sql
select plan(53);

-- given a queue
select pg_temp.freeze('2030-01-01 12:00+00');
select plane.create_queue('enqueue', p_max_dequeues => 4);

-- when a job is enqueued with nothing but a name
select job_id as plain, coalesced from plane.enqueue('enqueue', 'send') \gset
select is(:'coalesced'::boolean, false, 'a job without a dedupe key is always a new one');
select results_eq(
    format('select queue, operation, version, params, envelope, scope_key, dedupe_key, serial_key, priority
        from plane.jobs where id = %s', :plain),
    $$ values ('enqueue', 'send', null::integer, '{}'::jsonb, '{}'::jsonb, null::text, null::text, null::text, 0) $$,
    'everything but the operation has a default');
select results_eq(
    format('select status, dequeue_count, max_dequeues, available_at, created_at, locked_by, lease_expires_at,
        claimed_at, finished_at from plane.jobs where id = %s', :plain),
    $$ values ('pending', 0, 4, timestamptz '2030-01-01 12:00+00', timestamptz '2030-01-01 12:00+00', null::text,
        null::timestamptz, null::timestamptz, null::timestamptz) $$,
    'it is pending at once, with the budget of its queue');

-- when a job is enqueued with everything said
select job_id as full_one from plane.enqueue('enqueue', 'send', '{"to": "ann", "n": 9007199254740993.10}',
    '{"client": "acme"}', 'key-1', 'line-1', -5, '2030-01-01 13:00+00', 9, 3) \gset
select results_eq(
    format('select operation, version, params::text, envelope, dedupe_key, serial_key, priority, status, max_dequeues,
        available_at from plane.jobs where id = %s', :full_one),
    $$ values ('send', 3, '{"n": 9007199254740993.10, "to": "ann"}', '{"client": "acme"}'::jsonb, 'key-1', 'line-1', -5,
        'pending', 9, timestamptz '2030-01-01 13:00+00') $$,
    'a job is kept as it was asked for, numbers digit for digit');

-- then ids grow, and no job is another
select job_id as again from plane.enqueue('enqueue', 'send') \gset
select cmp_ok(:again::bigint, '>', :plain::bigint, 'the same job asked for twice without a key is two jobs');

-- when a job is scheduled
select job_id as later_on from plane.enqueue('enqueue', 'send', p_available_at => '2030-01-01 12:00:01+00') \gset
select is_empty(
    format('select from plane.claim(''enqueue'', ''w1'', 10) where job_id = %s', :later_on),
    'a job is not handed out before its time');
select pg_temp.later('1 s');
select results_eq(
    'select job_id from plane.claim_one(''enqueue'', ''w1'')', array[:later_on]::bigint[],
    'and is from its moment on');
select job_id as past from plane.enqueue('enqueue', 'send', p_available_at => '-infinity') \gset
select results_eq(
    'select job_id from plane.claim_one(''enqueue'', ''w1'')', array[:past]::bigint[],
    'a time gone by is now');

-- when a queue has a limit
select plane.create_queue('enqueue-small', p_max_depth => 3);
select job_id as held from plane.enqueue('enqueue-small', 'send', p_serial_key => 'line') \gset
select job_id as behind from plane.enqueue('enqueue-small', 'send', p_serial_key => 'line') \gset
select lives_ok(
    $$ select plane.enqueue('enqueue-small', 'send', p_dedupe_key => 'key', p_available_at => '2031-01-01') $$,
    'a queue takes as many jobs as its max_depth says');
select throws_ok(
    $$ select plane.enqueue('enqueue-small', 'send') $$,
    'PL429', 'the queue is full', 'and refuses more: ready, waiting and scheduled jobs count');
select throws_ok(
    $$ select plane.enqueue('enqueue-small', 'send', p_available_at => '2031-01-01') $$,
    'PL429', 'the queue is full', 'a scheduled job is refused as well');
select throws_ok(
    $$ select plane.enqueue('enqueue-small', 'send', p_dedupe_key => 'another key') $$,
    'PL429', 'the queue is full', 'a new dedupe key makes a new job, which is refused');
select results_eq(
    $$ select coalesced from plane.enqueue('enqueue-small', 'send', p_dedupe_key => 'key') $$, array[true],
    'a call that joins a live job always passes');
select lives_ok(
    $$ select plane.enqueue('enqueue', 'send') $$, 'another queue is not concerned');
select is(
    (select job_id from plane.claim_one('enqueue-small', 'w1')), :held::bigint, 'once a job is claimed');
select lives_ok(
    $$ select plane.enqueue('enqueue-small', 'send') $$, 'there is room for one more: what is held does not count');
select throws_ok(
    $$ select plane.enqueue('enqueue-small', 'send') $$, 'PL429', 'the queue is full', 'and for no other');

-- when params or envelope are at the edge of their size
select lives_ok(
    $$ select plane.enqueue('enqueue', 'send', jsonb_build_object('a', repeat('x', 262144 - 9))) $$,
    'params of 256 KiB are taken');
select throws_ok(
    $$ select plane.enqueue('enqueue', 'send', jsonb_build_object('a', repeat('x', 262144 - 8))) $$,
    'PL413', 'params and envelope are limited to 256 KiB', 'one byte more is refused');
select throws_ok(
    $$ select plane.enqueue('enqueue', 'send', jsonb_build_object('a', repeat('ä', 131072))) $$,
    'PL413', 'params and envelope are limited to 256 KiB', 'bytes count, not characters');
select lives_ok(
    $$ select plane.enqueue('enqueue', 'send', '{}', jsonb_build_object('a', repeat('x', 262144 - 9))) $$,
    'an envelope of 256 KiB is taken');
select throws_ok(
    $$ select plane.enqueue('enqueue', 'send', '{}', jsonb_build_object('a', repeat('x', 262144 - 8))) $$,
    'PL413', 'params and envelope are limited to 256 KiB', 'one byte more is refused');

-- when params or envelope are not objects
create function pg_temp.refuses_json(p_arguments text, p_what text) returns text language sql as $$
    select throws_ok('select plane.enqueue(''enqueue'', ''send'', ' || p_arguments || ')',
        'PL422', 'params and envelope must be JSON objects', p_what)
$$;
select pg_temp.refuses_json($$ '[]' $$, 'params that are an array are refused');
select pg_temp.refuses_json($$ '"text"' $$, 'params that are a string are refused');
select pg_temp.refuses_json($$ '7' $$, 'params that are a number are refused');
select pg_temp.refuses_json($$ 'null' $$, 'a JSON null is no params');
select pg_temp.refuses_json($$ null $$, 'NULL is no params');
select pg_temp.refuses_json($$ '{}', '[]' $$, 'an envelope that is an array is refused');
select pg_temp.refuses_json($$ '{}', 'null' $$, 'a JSON null is no envelope');
select pg_temp.refuses_json($$ '{}', null $$, 'NULL is no envelope');
select throws_ok(
    $$ select plane.enqueue('enqueue', 'send', '{"a": "\u0000"}') $$,
    '22P05', 'unsupported Unicode escape sequence', 'a NUL character is refused by PostgreSQL itself');

-- when another argument cannot be
select throws_ok(
    $$ select plane.enqueue('enqueue-none', 'send') $$,
    'PL404', 'no such queue', 'a queue that does not exist is refused');
select throws_ok(
    $$ select plane.enqueue(null, 'send') $$, 'PL404', 'no such queue', 'NULL is no queue');

create function pg_temp.refuses_operation(p_operation text, p_what text) returns text language sql as $$
    select throws_ok(format('select plane.enqueue(''enqueue'', %L)', p_operation),
        '22023', 'an operation has a name of 1 to 200 characters', p_what)
$$;
select pg_temp.refuses_operation(null, 'NULL is no operation');
select pg_temp.refuses_operation('', 'an empty operation is refused');
select pg_temp.refuses_operation(repeat('o', 201), 'an operation of 201 characters is refused');
select lives_ok(
    $$ select plane.enqueue('enqueue', repeat('ö', 200)) $$, 'one of 200 is taken');

create function pg_temp.refuses(p_argument text, p_what text) returns text language sql as $$
    select throws_ok('select plane.enqueue(''enqueue'', ''send'', ' || p_argument || ')',
        '22023', 'an argument is out of range', p_what)
$$;
select pg_temp.refuses('p_priority => null', 'NULL is no priority');
select pg_temp.refuses('p_priority => -32769', 'a priority below -32768 is refused');
select pg_temp.refuses('p_priority => 32768', 'a priority above 32767 is refused');
select pg_temp.refuses('p_max_dequeues => 0', 'a job needs one attempt at least');
select pg_temp.refuses('p_max_dequeues => -1', 'a negative budget is refused');
select pg_temp.refuses('p_max_dequeues => 1000001', 'a budget beyond a million is refused');
select pg_temp.refuses('p_version => 0', 'versions begin at 1');
select lives_ok($$ select plane.enqueue('enqueue', 'send', p_version => 1) $$, 'with the number 1');
select pg_temp.refuses('p_dedupe_key => ''''', 'an empty dedupe key is refused');
select pg_temp.refuses('p_dedupe_key => repeat(''k'', 201)', 'a dedupe key of 201 characters is refused');
select pg_temp.refuses('p_serial_key => ''''', 'an empty serial key is refused');
select pg_temp.refuses('p_serial_key => repeat(''k'', 201)', 'a serial key of 201 characters is refused');
select pg_temp.refuses('p_available_at => ''infinity''', 'a job that would never be due is refused');
select pg_temp.refuses('p_available_at => ''10000-01-01 00:00Z''', 'so is a year that few languages can tell');
select lives_ok(
    $$ select plane.enqueue('enqueue', 'send', p_dedupe_key => repeat('ß', 200), p_serial_key => repeat('ß', 200)) $$,
    'keys of 200 characters are taken');

-- when a priority is at the edge of its range
select plane.enqueue('enqueue', 'least', p_priority => 32767);
select plane.enqueue('enqueue', 'most', p_priority => -32768);
select results_eq(
    $$ select operation, priority, status from plane.jobs
       where queue = 'enqueue' and operation in ('least', 'most') order by operation $$,
    $$ values ('least', 32767, 'pending'), ('most', -32768, 'pending') $$,
    'it is taken as it is');

select * from finish();
rollback;
