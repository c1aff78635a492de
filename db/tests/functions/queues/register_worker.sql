-- register_worker: a worker says that it starts to serve a queue.
begin;
\ir ../../_clock.sql
select plan(20);

-- given a queue with a lease of its own
select pg_temp.freeze('2030-01-01 12:00+00');
select plane.create_queue('register_worker', p_lease => '90 s', p_notify => 'waiters');
select plane.create_queue('register_worker-other');

-- when a worker registers
select is(
    plane.register_worker('w1', 'register_worker', '{"host": "alpha", "pid": 7}'), '90 s'::interval,
    'a worker is told the lease of the queue');
select results_eq(
    $$ select worker, queue, info, asleep, registered_at, seen_at from plane.workers where queue = 'register_worker' $$,
    $$ values ('w1', 'register_worker', '{"host": "alpha", "pid": 7}'::jsonb, false,
        timestamptz '2030-01-01 12:00+00', timestamptz '2030-01-01 12:00+00') $$,
    'it is present with what it says of itself, and awake');

-- when it has fallen asleep over an empty queue and starts again later
select is_empty($$ select plane.claim_one('register_worker', 'w1') $$, 'it finds nothing to do');
select is(
    (select asleep from plane.workers where queue = 'register_worker'), true, 'and sleeps');
select pg_temp.later('1 h');
select plane.register_worker('w1', 'register_worker', '{"host": "beta"}');
select results_eq(
    $$ select info, asleep, registered_at, seen_at from plane.workers where queue = 'register_worker' $$,
    $$ values ('{"host": "beta"}'::jsonb, false,
        timestamptz '2030-01-01 13:00+00', timestamptz '2030-01-01 13:00+00') $$,
    'a worker that starts again replaces what it said, and is awake');

-- when more workers, and more queues, come
select plane.register_worker('w2', 'register_worker');
select plane.register_worker('w1', 'register_worker-other');
select results_eq(
    $$ select worker, queue, info from plane.workers where queue like 'register_worker%' order by queue, worker $$,
    $$ values ('w1', 'register_worker', '{"host": "beta"}'::jsonb), ('w2', 'register_worker', '{}'),
        ('w1', 'register_worker-other', '{}') $$,
    'a worker is present once in each queue that it serves, with or without words of its own');

-- when an argument cannot be
select throws_ok(
    $$ select plane.register_worker('w1', 'register_worker-none') $$,
    'PL404', 'no such queue', 'a queue that does not exist is refused');
select throws_ok(
    $$ select plane.register_worker('w1', null) $$, 'PL404', 'no such queue', 'NULL is no queue');
select throws_ok(
    $$ select plane.register_worker(null, 'register_worker') $$,
    '22023', 'a worker needs a name of 1 to 200 characters', 'a worker without a name is refused');
select throws_ok(
    $$ select plane.register_worker('', 'register_worker') $$,
    '22023', 'a worker needs a name of 1 to 200 characters', 'an empty name is refused');
select throws_ok(
    $$ select plane.register_worker(repeat('w', 201), 'register_worker') $$,
    '22023', 'a worker needs a name of 1 to 200 characters', 'a name of 201 characters is refused');
select lives_ok(
    $$ select plane.register_worker(repeat('w', 200), 'register_worker') $$, 'one of 200 is taken');
select throws_ok(
    $$ select plane.register_worker('w1', 'register_worker', jsonb_build_object('a', repeat('x', 65536))) $$,
    'PL413', 'info is limited to 64 KiB', 'so does nobody say too much of itself');
select lives_ok(
    $$ select plane.register_worker('w4', 'register_worker', jsonb_build_object('a', repeat('x', 65000))) $$,
    'as much as anybody reads is taken');
select lives_ok(
    $$ select plane.register_worker('We Ird; "w" ''3''', 'register_worker') $$, 'any character may be in a name');
select throws_ok(
    $$ select plane.register_worker('w3', 'register_worker', '["alpha"]') $$,
    'PL422', 'info must be a JSON object', 'info that is an array is refused');
select throws_ok(
    $$ select plane.register_worker('w3', 'register_worker', '"alpha"') $$,
    'PL422', 'info must be a JSON object', 'info that is a string is refused');
select throws_ok(
    $$ select plane.register_worker('w3', 'register_worker', 'null') $$,
    'PL422', 'info must be a JSON object', 'a JSON null is no info');
select throws_ok(
    $$ select plane.register_worker('w3', 'register_worker', null) $$,
    'PL422', 'info must be a JSON object', 'NULL is no info');
select is_empty(
    $$ select from plane.workers where worker = 'w3' $$, 'whoever is refused is not present');

select * from finish();
rollback;
