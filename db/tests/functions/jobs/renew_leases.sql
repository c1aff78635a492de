-- renew_leases: the heartbeat of a worker, one call for all that it holds.
begin;
\ir ../../_clock.sql
select plan(28);

create function pg_temp.expiry(p_job_id bigint) returns timestamptz language sql as $$
    select lease_expires_at from plane.jobs where id = p_job_id
$$;

-- given a worker that holds jobs of two queues for half a minute
select pg_temp.freeze('2030-01-01 12:00+00');
select plane.create_queue('renew_leases', p_lease => '1 min');
select plane.create_queue('renew_leases-long', p_lease => '1 h');
select plane.register_worker('renew-w1', 'renew_leases'), plane.register_worker('renew-w1', 'renew_leases-long'),
    plane.register_worker('renew-w2', 'renew_leases') \g /dev/null
select count(*) from generate_series(1, 4) as n, plane.enqueue('renew_leases', 'send ' || n) \g /dev/null
select plane.enqueue('renew_leases-long', 'send') \g /dev/null
select array_agg(job_id order by job_id) as jobs from plane.claim('renew_leases', 'renew-w1', 4) \gset
select (:'jobs'::bigint[])[1] as first, (:'jobs'::bigint[])[2] as second, (:'jobs'::bigint[])[3] as third,
    (:'jobs'::bigint[])[4] as fourth, job_id as long from plane.claim_one('renew_leases-long', 'renew-w1') \gset
select pg_temp.later('30 s');

-- when it renews some of them
select results_eq(
    format('select * from plane.renew_leases(''renew-w1'', array[%s, %s, %s], array[1, 1, 1]) order by job_id', :first, :second, :long),
    format('values (%s::bigint, ''held'', interval ''1 min''), (%s, ''held'', ''1 min''), (%s, ''held'', ''1 h'')', :first, :second, :long),
    'what a worker holds is held, for as long as its queue says');
select is(pg_temp.expiry(:first), '2030-01-01 12:01:30+00', 'a renewed lease lasts as long as its queue says, from now');
select is(pg_temp.expiry(:long), '2030-01-01 13:00:30+00', 'each by its own queue');
select is(pg_temp.expiry(:third), '2030-01-01 12:01:00+00', 'a lease that was not named is not renewed');
select results_eq(
    $$ select worker, queue, seen_at from plane.workers where worker like 'renew-%' order by worker, queue $$,
    $$ values ('renew-w1', 'renew_leases', timestamptz '2030-01-01 12:00:30+00'),
        ('renew-w1', 'renew_leases-long', timestamptz '2030-01-01 12:00:30+00'),
        ('renew-w2', 'renew_leases', timestamptz '2030-01-01 12:00+00') $$,
    'and the worker is seen in all its queues');

-- when it holds nothing
select pg_temp.later('10 s');
select is_empty($$ select plane.renew_leases('renew-w2', '{}', '{}') $$, 'nothing held is nothing answered');
select is(
    (select seen_at from plane.workers where worker = 'renew-w2'), '2030-01-01 12:00:40+00', 'but the worker is seen');
select lives_ok(
    $$ select plane.renew_leases('renew-nobody', '{}', '{}') $$, 'a worker that never registered may renew');
select is_empty(
    $$ select from plane.workers where worker = 'renew-nobody' $$, 'which does not register it');

-- when jobs are not, or no longer, its own
select plane.complete_job(:first, 1), plane.release_job(:second, 1) \g /dev/null
select plane.claim_one('renew_leases', 'renew-w2') \g /dev/null
select results_eq(
    format('select * from plane.renew_leases(''renew-w1'', array[%s, %s, %s], array[1, 1, 1])', :first, :second, :third),
    format('values (%s::bigint, ''lost'', null::interval), (%s, ''lost'', null), (%s, ''held'', ''1 min'')', :first, :second, :third),
    'a job that ended, or that another attempt has, is lost; the others are held');
select is(pg_temp.expiry(:second), '2030-01-01 12:01:40+00', 'a stranger renews nobody''s lease');
select results_eq(
    format('select job_id, state from plane.renew_leases(''renew-w1'', array[%s, 9223372036854775807, null], array[2, 1, 1]) order by job_id', :third),
    format('values (%s::bigint, ''lost''), (9223372036854775807, ''lost''), (null, ''lost'')', :third),
    'so is an attempt that never was, a job that does not exist, and NULL');
select results_eq(
    format('select job_id, state from plane.renew_leases(''renew-w1'', array[%s, %s], array[1, 1])', :third, :third),
    format('values (%s::bigint, ''held''), (%s, ''held'')', :third, :third), 'a job that is named twice is answered twice');

-- when a lease has lapsed
select pg_temp.later('50 s');
select results_eq(
    format('select state from plane.renew_leases(''renew-w1'', array[%s]::bigint[], array[1])', :fourth),
    array['held'], 'a lapsed lease is renewed while nobody else has the job');
select is(pg_temp.expiry(:fourth), '2030-01-01 12:02:30+00', 'and lasts again');
select pg_temp.later('2 min');
select job_id as taken, attempt from plane.claim_one('renew_leases', 'renew-w2') \gset
select results_eq(
    format('select state from plane.renew_leases(''renew-w1'', array[%s]::bigint[], array[1])', :taken),
    array['lost'], 'and is lost once somebody has it');
select results_eq(
    format('select state from plane.renew_leases(''renew-w2'', array[%s]::bigint[], array[%s])', :taken, :attempt),
    array['held'], 'who holds it then');

-- when the queue's lease changes
select plane.create_queue('renew_leases', p_lease => '5 min');
select results_eq(
    format('select state, lease from plane.renew_leases(''renew-w2'', array[%s]::bigint[], array[%s])', :taken, :attempt),
    $$ values ('held', interval '5 min') $$, 'the next heartbeat learns it');
select is(pg_temp.expiry(:taken), plane._now() + interval '5 min', 'and goes by it');

-- when a job was asked to stop
update plane.lease set cancelled_by = 'ann' where job_id = :taken;
select pg_temp.later('1 min');
select results_eq(
    format('select state, lease from plane.renew_leases(''renew-w2'', array[%s]::bigint[], array[%s])', :taken, :attempt),
    $$ values ('cancelling', interval '5 min') $$, 'its holder is told to');
select is(pg_temp.expiry(:taken), plane._now() + interval '5 min', 'and has a lease''s time for it');

-- when an argument cannot be
select throws_ok(
    $$ select plane.renew_leases(null, '{}', '{}') $$,
    '22023', 'a worker needs a name of 1 to 200 characters', 'a worker without a name is refused');
select throws_ok(
    $$ select plane.renew_leases('', '{}', '{}') $$,
    '22023', 'a worker needs a name of 1 to 200 characters', 'an empty name is refused');
select throws_ok(
    $$ select plane.renew_leases(repeat('w', 201), '{}', '{}') $$,
    '22023', 'a worker needs a name of 1 to 200 characters', 'a name of 201 characters is refused');
select throws_ok(
    $$ select plane.renew_leases('w1', null, '{}') $$,
    '22023', 'job_ids and attempts must be arrays of one length', 'NULL is no array of jobs');
select throws_ok(
    $$ select plane.renew_leases('w1', '{}', null) $$,
    '22023', 'job_ids and attempts must be arrays of one length', 'NULL is no array of attempts');
select throws_ok(
    $$ select plane.renew_leases('w1', '{1,2}', '{1}') $$,
    '22023', 'job_ids and attempts must be arrays of one length', 'a job without its attempt is refused');
select throws_ok(
    $$ select plane.renew_leases('w1', '{}', '{1}') $$,
    '22023', 'job_ids and attempts must be arrays of one length', 'an attempt without its job is refused');

select * from finish();
rollback;
