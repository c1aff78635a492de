-- claim: claim_one for several at once; the same order, the same fence.
begin;
\ir ../../_clock.sql
select plan(27);

create function pg_temp.claims(p_n integer, p_operations text[], p_what text) returns text language sql as $$
    select is(array(select operation from plane.claim('claim', 'w1', p_n)), p_operations, p_what)
$$;
create function pg_temp.add(p_operation text, p_priority integer = 0) returns bigint language sql as $$
    select job_id from plane.enqueue('claim', p_operation, p_priority => p_priority)
$$;

-- given a queue with nothing in it
select pg_temp.freeze('2030-01-01 12:00+00');
select plane.create_queue('claim', p_lease => '1 min', p_max_dequeues => 3);
select pg_temp.claims(10, '{}', 'from an empty queue nothing is claimed');

-- when jobs are there
select job_id from plane.enqueue('claim', 'send', '{"to": "ann"}', '{"client": "acme"}', 'key', 'line', 7,
    p_max_dequeues => 5, p_version => 2) \gset
select pg_temp.later('10 s');
select results_eq(
    $$ select job_id, attempt, queue, operation, version, params, envelope, dedupe_key, serial_key, max_dequeues,
        lease_expires_at, created_at, cache_key, fresh from plane.claim('claim', 'w1', 10) $$,
    format($$ values (%s::bigint, 1, 'claim', 'send', 2, '{"to": "ann"}'::jsonb, '{"client": "acme"}'::jsonb, 'key', 'line',
        5, timestamptz '2030-01-01 12:01:10+00', timestamptz '2030-01-01 12:00+00', null::text, false) $$, :job_id),
    'a claim hands out all that a worker needs');
select results_eq(
    format('select status, priority, dequeue_count, locked_by, lease_expires_at, claimed_at from plane.jobs where id = %s', :job_id),
    $$ values ('in_progress', 7, 1, 'w1', timestamptz '2030-01-01 12:01:10+00', timestamptz '2030-01-01 12:00:10+00') $$,
    'each job is in progress, its lease as long as its queue says');
select is(plane.complete_job(:job_id, 1), true, 'its attempt holds it');

-- given jobs of several priorities
select pg_temp.add('c'), pg_temp.add('d'), pg_temp.add('patient', 10), pg_temp.add('urgent', -10), pg_temp.add('e') \g /dev/null

-- then no more are handed out than were asked for, in the order of claim_one
select pg_temp.claims(2, array['urgent', 'c'], 'as many as asked for, the lowest priority first');
select pg_temp.claims(1, array['d'], 'one is a number too');
select pg_temp.claims(10000, array['e', 'patient'], 'and fewer when there are fewer');
select pg_temp.claims(10000, '{}', 'what is held is not handed out again');

-- when work comes back beside fresh work
select pg_temp.add('fresh') as fresh, pg_temp.add('fresh and urgent', -1) as urgent, pg_temp.add('fresh too') \gset
select count(plane.release_job(id, 1)) from plane.jobs where queue = 'claim' and operation in ('c', 'e') \g /dev/null
select plane.fail_job(id, 1, '{}', '20 s') from plane.jobs where queue = 'claim' and operation = 'd' \g /dev/null
select pg_temp.claims(10, array['fresh and urgent', 'c', 'e', 'fresh', 'fresh too'],
    'what came back goes before fresh work of its priority, and a backoff is waited for');

-- when time has gone by, with nobody sweeping
select pg_temp.add('last') \g /dev/null
select pg_temp.later('1 min');
select is(
    array(select operation from plane.claim('claim', 'w2', 10) order by operation),
    array['c', 'd', 'e', 'fresh', 'fresh and urgent', 'fresh too', 'last', 'patient', 'urgent'],
    'lapsed leases and jobs whose pause is over are handed out as well');
select results_eq(
    $$ select distinct attempt, max_dequeues from plane.jobs j join plane.attempts a on a.job_id = j.id
       where queue = 'claim' and status = 'in_progress' and operation in ('c', 'd', 'last') and a.outcome = 'in_progress'
       order by attempt $$,
    $$ values (1, 3), (2, 3), (3, 4) $$,
    'each as its own next attempt; a release had given a try back');

-- when hundreds of leases lapse at once, and hundreds of jobs become due at once
select plane.create_queue('claim-many', p_lease => '1 min');
create function pg_temp.claims_of_100(p_times integer) returns bigint language plpgsql as $$
declare
    v_claimed bigint := 0;
begin
    for v_time in 1 .. p_times loop
        v_claimed := v_claimed + (select count(*) from plane.claim('claim-many', 'w2', 100));
    end loop;
    return v_claimed;
end;
$$;
select count(*) from generate_series(1, 250) as n,
    plane.enqueue('claim-many', 'send ' || n, p_available_at => plane._now() + interval '1 min') \g /dev/null
select is(pg_temp.claims_of_100(1), 0::bigint, 'given jobs that are not due');
select pg_temp.later('1 min 10 s');
select is(pg_temp.claims_of_100(3), 250::bigint, 'three claims of 100 find 250 jobs that became due a while ago');
select pg_temp.later('1 min 10 s');
select is(pg_temp.claims_of_100(3), 250::bigint, 'and three more find 250 that lapsed a while ago');

-- when a job becomes due in the very moment after a look
select plane.create_queue('claim-moment');
select plane.enqueue('claim-moment', 'send', p_available_at => plane._now() + interval '1 ms') \g /dev/null
select is_empty($$ select plane.claim('claim-moment', 'w1', 10) $$, 'a claim a moment before finds nothing');
select pg_temp.later('1 ms');
select is(
    (select count(*) from plane.claim('claim-moment', 'w1', 10)), 1::bigint, 'the next one looks again before it leaves with empty hands');

-- given a queue that wakes only workers that sleep
select plane.create_queue('claim-sleep', p_notify => 'waiters');
select plane.register_worker('w1', 'claim-sleep') \g /dev/null
select plane.claim('claim-sleep', 'w1', 10);
select is(
    (select asleep from plane.workers where queue = 'claim-sleep'), true,
    'a worker that comes away with empty hands is noted to sleep');
select plane.enqueue('claim-sleep', 'send') \g /dev/null
select plane.claim('claim-sleep', 'w1', 10) \g /dev/null
select is(
    (select asleep from plane.workers where queue = 'claim-sleep'), false, 'and is awake when it got less than it asked for');

-- when an argument cannot be
select throws_ok(
    $$ select plane.claim('claim-none', 'w1', 1) $$,
    'PL404', 'no such queue', 'a queue that does not exist is refused');
select throws_ok($$ select plane.claim(null, 'w1', 1) $$, 'PL404', 'no such queue', 'NULL is no queue');
select throws_ok(
    $$ select plane.claim('claim', null, 1) $$,
    '22023', 'a worker needs a name of 1 to 200 characters', 'a worker without a name is refused');
select throws_ok(
    $$ select plane.claim('claim', '', 1) $$,
    '22023', 'a worker needs a name of 1 to 200 characters', 'an empty name is refused');
select throws_ok(
    $$ select plane.claim('claim', repeat('w', 201), 1) $$,
    '22023', 'a worker needs a name of 1 to 200 characters', 'a name of 201 characters is refused');
select throws_ok(
    $$ select plane.claim('claim', 'w1', null) $$,
    '22023', 'a claim takes 1 to 10000 jobs', 'NULL is no number');
select throws_ok(
    $$ select plane.claim('claim', 'w1', 0) $$,
    '22023', 'a claim takes 1 to 10000 jobs', 'a claim of nothing is refused');
select throws_ok(
    $$ select plane.claim('claim', 'w1', -1) $$,
    '22023', 'a claim takes 1 to 10000 jobs', 'a negative number is refused');
select throws_ok(
    $$ select plane.claim('claim', 'w1', 10001) $$,
    '22023', 'a claim takes 1 to 10000 jobs', 'a number above 10000 is refused');

select * from finish();
rollback;
