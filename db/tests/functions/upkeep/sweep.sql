-- sweep: all that time does, for every queue, whether anybody claims from it or not.
begin;
\ir ../../_clock.sql
select plan(37);

create function pg_temp.status(p_job_id bigint) returns text language sql as $$
    select status from plane.jobs where id = p_job_id
$$;

-- given nothing that time has done anything to
select pg_temp.freeze('2030-01-01 12:00+00');
select plane.create_queue('sweep', p_lease => '1 min', p_max_dequeues => 2, p_backoff => '30 s');
select plane.create_queue('sweep-other', p_lease => '1 min');
select plane.sweep() \g /dev/null
select is(plane.sweep(), 0, 'a sweep that finds nothing moves nothing');

-- given a held job, a scheduled one, one in backoff, and one behind the head of its serial line
select job_id as backoff from plane.enqueue('sweep', 'backoff') \gset
select plane.claim_one('sweep', 'w1'), plane.fail_job(:backoff, 1, '{}') \g /dev/null
select job_id as held from plane.enqueue('sweep', 'held', p_serial_key => 'line', p_dedupe_key => 'key') \gset
select plane.claim_one('sweep', 'w1') \g /dev/null
select job_id as behind from plane.enqueue('sweep', 'behind', p_serial_key => 'line') \gset
select job_id as scheduled from plane.enqueue('sweep', 'scheduled', p_available_at => '2030-01-01 12:00:45+00') \gset
select job_id as elsewhere from plane.enqueue('sweep-other', 'held') \gset
select plane.claim_one('sweep-other', 'w1') \g /dev/null

-- when a pause is over
select pg_temp.later('29 s 999 ms');
select is(plane.sweep(), 0, 'before its time nothing moves');
select pg_temp.later('1 ms');
select is(plane.sweep(), 1, 'a pause that is over moves its job');
select is(plane.sweep(), 0, 'once');

-- when a scheduled time has come
select pg_temp.later('15 s');
select is(plane.sweep(), 1, 'a time that has come moves its job');

-- when leases have lapsed
select pg_temp.later('15 s');
select is(plane.sweep(), 2, 'lapsed leases are returned, in every queue');
select results_eq(
    format('select id, status, dequeue_count, locked_by from plane.jobs where id in (%s, %s) order by id', :held, :elsewhere),
    format($$ values (%s::bigint, 'pending', 1, null::text), (%s, 'pending', 1, null) $$, :held, :elsewhere),
    'their jobs are pending, with one try less');
select results_eq(
    format($$ select worker, outcome, ended_at, error ->> 'code', error ->> 'message', error ->> 'worker' from plane.attempts where job_id = %s $$, :held),
    $$ values ('w1', 'lapsed', timestamptz '2030-01-01 12:01+00', 'LEASE_LAPSED', 'the worker stopped renewing its lease', 'w1') $$,
    'and the attempts are on record');
select is(pg_temp.status(:behind), 'waiting', 'a head whose lease lapsed keeps its line');
select results_eq(
    $$ select operation from plane.claim('sweep', 'w2', 10) $$, array['backoff', 'held', 'scheduled'],
    'what was moved is claimable, in the order of coming back, before fresh work');

-- when the last lease of a job lapses
select job_id as waited from plane.enqueue('sweep', 'send', p_dedupe_key => 'another') \gset
select pg_temp.later('1 min');
select is(plane.sweep(), 3, 'leases lapse, the last of some jobs among them');
select results_eq(
    format($$ select status, dequeue_count, locked_by, error ->> 'code', finished_at from plane.jobs where id = %s $$, :held),
    $$ values ('poison', 2, 'w2', 'LEASE_LAPSED', timestamptz '2030-01-01 12:02+00') $$,
    'a job without a try left is poison');
select is(pg_temp.status(:behind), 'pending', 'its serial line goes on');
select is(
    (select coalesced from plane.enqueue('sweep', 'send', p_dedupe_key => 'key')), false, 'its dedupe key is free');
select is(pg_temp.status(:scheduled), 'pending', 'a job with a try left is pending');

-- when a job that was asked to stop is left alone by its worker
select job_id as deaf, attempt from plane.claim_one('sweep', 'w3') \gset
update plane.lease set cancelled_by = 'ann' where job_id = :deaf;
select pg_temp.later('1 min');
select is(plane.sweep(), 1, 'a lease that lapses while its job is being cancelled is returned');
select is(pg_temp.status(:deaf), 'cancelled', 'and the job is cancelled');
select results_eq(
    format('select outcome from plane.attempts where job_id = %s and attempt = %s', :deaf, :attempt), array['lapsed'],
    'its attempt is on record');

-- when there is more to move than the sweep may
select plane.create_queue('sweep-many', p_lease => '1 min');
select count(*) from generate_series(1, 5) as n, plane.enqueue('sweep-many', 'send ' || n) \g /dev/null
select count(*) from plane.claim('sweep-many', 'w1', 5) \g /dev/null
select count(*) from generate_series(1, 3) as n, plane.enqueue('sweep-many', 'later ' || n, p_available_at => plane._now() + interval '1 s') \g /dev/null
select pg_temp.later('1 min');
select is(plane.sweep(2), 4, 'it moves as much as it may of each kind');
select is(plane.sweep(2), 3, 'the next one goes on');
select is(plane.sweep(2), 1, 'until all is done');
select is(plane.sweep(2), 0, 'and then rests');

select plane.create_queue('sweep-order', p_lease => '1 min');
select plane.enqueue('sweep-order', 'b', p_available_at => plane._now() + interval '2 s'),
    plane.enqueue('sweep-order', 'a', p_available_at => plane._now() + interval '1 s') \g /dev/null
select pg_temp.later('10 s');
select is(plane.sweep(1), 1, 'one of two jobs that have become due');
select is((select operation from plane.claim_one('sweep-order', 'w1')), 'a', 'is the one that was due first');
select plane.sweep(1) \g /dev/null
select pg_temp.later('1 s');
select plane.claim_one('sweep-order', 'w2'), plane.renew_leases('w1', array[id], array[1]) from plane.jobs
where queue = 'sweep-order' and operation = 'a' \g /dev/null
select pg_temp.later('1 s');
select plane.renew_leases('w1', array[id], array[1]) from plane.jobs where queue = 'sweep-order' and operation = 'a' \g /dev/null
select pg_temp.later('1 min');
select is(plane.sweep(1), 1, 'one of two leases that have lapsed');
select results_eq(
    $$ select operation, status from plane.jobs where queue = 'sweep-order' order by operation $$,
    $$ values ('a', 'in_progress'), ('b', 'pending') $$, 'is the one that lapsed first');
select is(plane.sweep(), 1, 'the other');
select results_eq(
    $$ select operation from plane.claim('sweep-order', 'w3', 10) $$, array['b', 'a'], 'is claimed after it');

-- given what is noted of callers, of a job that is there and of one that is gone, some of it past its deadline
insert into plane.waiter (job_id, waiter, deadline, state)
select j.id, d.name, d.deadline, s.state
from unnest(array[:waited, 0]::bigint[]) as j (id),
    unnest(array['waits', 'wants', 'left']) as s (state),
    lateral (values (s.state || ' gone', plane._now() - interval '1 s'), (s.state || ' here', plane._now())) as d (name, deadline)
union all
values (:waited, 'kept', 'infinity'::timestamptz, 'wants');
select is(plane.sweep(), 0, 'to forget a waiter is no move of a job');
select results_eq(
    format('select waiter from plane.waiter where job_id = %s order by waiter collate "C"', :waited),
    array['kept', 'left here', 'waits here', 'wants here'],
    'who is past its deadline is forgotten, who is not is not');
select is((select count(*) from plane.waiter where job_id = 0), 3::bigint, 'whatever became of the job');
delete from plane.waiter where job_id = 0;

-- when the limit cannot be
select throws_ok($$ select plane.sweep(null) $$, '22023', 'a sweep moves 1 to 100000 jobs a queue', 'NULL is no limit');
select throws_ok($$ select plane.sweep(0) $$, '22023', 'a sweep moves 1 to 100000 jobs a queue', 'a limit of nothing is refused');
select throws_ok($$ select plane.sweep(-1) $$, '22023', 'a sweep moves 1 to 100000 jobs a queue', 'a negative limit is refused');
select throws_ok(
    $$ select plane.sweep(100001) $$, '22023', 'a sweep moves 1 to 100000 jobs a queue', 'a limit above 100000 is refused');
select lives_ok($$ select plane.sweep(1) $$, 'one is a limit');
select lives_ok($$ select plane.sweep(100000) $$, 'so is 100000');

select * from finish();
rollback;
