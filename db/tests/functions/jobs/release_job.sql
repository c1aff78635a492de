-- release_job: a worker that shuts down gives its job back at once, its try unspent.
begin;
\ir ../../_clock.sql
select plan(23);

-- given a job with one try that w1 has held for 10 seconds, and fresh work behind it
select pg_temp.freeze('2030-01-01 12:00+00');
select plane.create_queue('release_job', p_lease => '1 h', p_backoff => '30 s');
select job_id from plane.enqueue('release_job', 'send', p_dedupe_key => 'key', p_serial_key => 'line',
    p_priority => 4, p_max_dequeues => 1) \gset
select plane.claim_one('release_job', 'w1') \g /dev/null
select plane.enqueue('release_job', 'fresh', p_priority => 4) \g /dev/null
select job_id as behind from plane.enqueue('release_job', 'behind', p_serial_key => 'line', p_priority => 0) \gset
select pg_temp.later('10 s');

-- when somebody else releases it
select is(plane.release_job(:job_id, 2), false, 'an attempt that never was cannot release');
select is(plane.release_job(:job_id, null), false, 'nor can no attempt');
select is(plane.release_job(null, 1), false, 'no job is released by NULL');
select is(plane.release_job(9223372036854775807, 1), false, 'nor is a job that does not exist');
select is((select status from plane.jobs where id = :job_id), 'in_progress', 'the job stays held');

-- when its holder releases it
select is(plane.release_job(:job_id, 1), true, 'the holder gives its job back');
select results_eq(
    format('select status, priority, dequeue_count, max_dequeues, locked_by, error::text from plane.jobs where id = %s', :job_id),
    $$ values ('pending', 4, 1, 2, null::text, null::text) $$,
    'it is pending, with a try as good as before');
select results_eq(
    format('select attempt, worker, claimed_at, ended_at, outcome, error::text from plane.attempts where job_id = %s', :job_id),
    $$ values (1, 'w1', timestamptz '2030-01-01 12:00+00', timestamptz '2030-01-01 12:00:10+00', 'released', null::text) $$,
    'its attempt is on record');
select is(plane.release_job(:job_id, 1), false, 'a job is released once');
select is(
    (select job_id from plane.enqueue('release_job', 'send', p_dedupe_key => 'key')), :job_id::bigint,
    'it keeps its dedupe key');
select is((select status from plane.jobs where id = :behind), 'waiting', 'and the head of its serial line');

-- then it is claimed at once
select results_eq(
    $$ select job_id, attempt, max_dequeues from plane.claim_one('release_job', 'w2') $$,
    format('values (%s::bigint, 2, 2)', :job_id), 'it is claimed without a pause, before fresh work, as a new attempt');
select is(plane.release_job(:job_id, 1), false, 'the attempt that gave it back can do so no more');

-- when it is given back again and again, and then fails
select is(plane.release_job(:job_id, 2), true, 'the next holder gives it back as well');
select is((select attempt from plane.claim_one('release_job', 'w3')), 3, 'and the one after');
select is(plane.fail_job(:job_id, 3, '{}'), 'poison', 'its one try is spent by the one failure');
select results_eq(
    format('select dequeue_count, max_dequeues from plane.jobs where id = %s', :job_id),
    $$ values (3, 3) $$, 'attempts never are numbered anew');
select is(plane.release_job(:job_id, 3), false, 'what has ended cannot be given back');

-- given a job that is done, and one whose lease lapsed
select job_id as done from plane.claim_one('release_job', 'w1') \gset
select plane.complete_job(:done, 1) \g /dev/null
select is(plane.release_job(:done, 1), false, 'what is done cannot be given back');
select job_id as slow from plane.claim_one('release_job', 'w1') \gset
select pg_temp.later('2 h');
select is(plane.release_job(:slow, 1), true, 'a late release is as good while nobody else has the job');

-- given a job that was asked to stop
select plane.claim_one('release_job', 'w1') \g /dev/null
update plane.lease set cancelled_by = 'ann' where job_id = :slow;
select is(plane.release_job(:slow, 2), true, 'a job that was asked to stop can be released');
select is((select status from plane.jobs where id = :slow), 'cancelled', 'and is cancelled by that');
select is_empty($$ select plane.claim_one('release_job', 'w1') $$, 'and is never handed out again');

select * from finish();
rollback;
