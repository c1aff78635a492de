-- workers: who serves which queue, and when it was last seen.
begin;
\ir ../_clock.sql
select plan(4);

select columns_are('plane', 'workers', array['worker', 'queue', 'info', 'asleep', 'registered_at', 'seen_at']);

-- given a worker of two queues, and another that sleeps
select pg_temp.freeze('2030-01-01 12:00+00');
select plane.create_queue('workers-a', p_notify => 'waiters'), plane.create_queue('workers-b') \g /dev/null
select plane.register_worker('workers-1', 'workers-a', '{"pid": 1}'), plane.register_worker('workers-1', 'workers-b'),
    plane.register_worker('workers-2', 'workers-a') \g /dev/null
select plane.claim_one('workers-a', 'workers-2');
select pg_temp.later('1 min');
select plane.renew_leases('workers-1', '{}', '{}');
select results_eq(
    $$ select worker, queue, info, asleep, registered_at, seen_at from plane.workers where worker like 'workers-%' order by worker, queue $$,
    $$ values ('workers-1', 'workers-a', '{"pid": 1}'::jsonb, false, timestamptz '2030-01-01 12:00+00', timestamptz '2030-01-01 12:01+00'),
        ('workers-1', 'workers-b', '{}', false, '2030-01-01 12:00+00', '2030-01-01 12:01+00'),
        ('workers-2', 'workers-a', '{}', true, '2030-01-01 12:00+00', '2030-01-01 12:00+00') $$,
    'each worker is shown in each of its queues, with when it was seen');

-- when a DBA reads it
set local role plane_admin;
select is((select count(*) from plane.workers where worker like 'workers-%'), 3::bigint, 'an admin reads it');
reset role;
set local role plane_worker;
select throws_ok($$ select from plane.workers $$, '42501', 'permission denied for view workers', 'a worker does not');
reset role;

select * from finish();
rollback;
