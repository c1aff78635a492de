-- fail_job: an attempt failed; its job is tried again after a pause, or is poison when its budget is spent.
begin;
\ir ../../_clock.sql
select plan(39);

-- a new job, claimed by w1: its id
create function pg_temp.held(p_serial_key text default null, p_max_dequeues integer default null) returns bigint language plpgsql as $$
begin
    perform plane.enqueue('fail_job', 'send', p_serial_key => p_serial_key, p_max_dequeues => p_max_dequeues);
    return (select job_id from plane.claim_one('fail_job', 'w1'));
end;
$$;

-- given a job that w1 has held for 10 seconds
select pg_temp.freeze('2030-01-01 12:00+00');
select plane.create_queue('fail_job', p_lease => '1 h', p_max_dequeues => 3, p_backoff => '30 s');
select job_id from plane.enqueue('fail_job', 'send', p_dedupe_key => 'key', p_priority => 4) \gset
select plane.claim_one('fail_job', 'w1') \g /dev/null
select pg_temp.later('10 s');

-- when somebody else fails it
select is(plane.fail_job(:job_id, 2, '{}'), 'lost', 'an attempt that never was cannot fail');
select is(plane.fail_job(:job_id, null, '{}'), 'lost', 'nor can no attempt');
select is(plane.fail_job(null, 1, '{}'), 'lost', 'no job is failed by NULL');
select is(plane.fail_job(9223372036854775807, 1, '{}'), 'lost', 'nor is a job that does not exist');
select is((select status from plane.jobs where id = :job_id), 'in_progress', 'the job stays held');

-- when its holder fails it
select is(plane.fail_job(:job_id, 1, '{"message": "no route"}'), 'pending', 'a job that failed is pending');
select results_eq(
    format('select status, priority, dequeue_count, max_dequeues, available_at, locked_by, error::text, finished_at
        from plane.jobs where id = %s', :job_id),
    $$ values ('pending', 4, 1, 3, timestamptz '2030-01-01 12:00:40+00', null::text, null::text, null::timestamptz) $$,
    'after the backoff of its queue');
select results_eq(
    format('select attempt, worker, claimed_at, ended_at, outcome, error::text from plane.attempts where job_id = %s', :job_id),
    $$ values (1, 'w1', timestamptz '2030-01-01 12:00+00', timestamptz '2030-01-01 12:00:10+00', 'failed', '{"message": "no route"}') $$,
    'its attempt is on record with the error');
select is(plane.fail_job(:job_id, 1, '{}'), 'lost', 'an attempt fails once');
select pg_temp.later('29 s 999 ms');
select is_empty($$ select plane.claim_one('fail_job', 'w1') $$, 'until its pause is over it is not handed out');
select pg_temp.later('1 ms');
select results_eq(
    $$ select job_id, attempt from plane.claim_one('fail_job', 'w2') $$,
    format('values (%s::bigint, 2)', :job_id), 'then it is, as a new attempt');
select is(plane.fail_job(:job_id, 1, '{}'), 'lost', 'the attempt that lost it can fail no more');

-- when the worker knows how long to wait
select is(plane.fail_job(:job_id, 2, null, '2 h'), 'pending', 'a pause of its own may be asked for, without an error');
select is(
    (select available_at - plane._now() from plane.jobs where id = :job_id), '2 h'::interval, 'and is kept');
select pg_temp.later('2 h');
select is((select attempt from plane.claim_one('fail_job', 'w3')), 3, 'the last try of the job');

-- when the last try fails
select is(plane.fail_job(:job_id, 3, '{"message": "still no route"}', '1 s'), 'poison', 'a job without a try left is poison');
select results_eq(
    format('select status, dequeue_count, max_dequeues, locked_by, result::text, error ->> ''message'', finished_at = plane._now()
        from plane.jobs where id = %s', :job_id),
    $$ values ('poison', 3, 3, 'w3', null::text, 'still no route', true) $$, 'with its last error');
select results_eq(
    format('select attempt, worker, outcome, error ->> ''message'' from plane.attempts where job_id = %s order by attempt', :job_id),
    $$ values (1, 'w1', 'failed', 'no route'), (2, 'w2', 'failed', null), (3, 'w3', 'failed', 'still no route') $$,
    'and all its attempts are on record');
select is(
    (select coalesced from plane.enqueue('fail_job', 'send', p_dedupe_key => 'key')), false, 'its dedupe key is free');
select plane.complete_job(job_id, attempt) from plane.claim_one('fail_job', 'w1') \g /dev/null

-- when no pause is wanted
select pg_temp.held() as prompt \gset
select plane.enqueue('fail_job', 'send') \g /dev/null
select is(plane.fail_job(:prompt, 1, '{}', '0'), 'pending', 'a pause of nothing is a pause');
select is((select job_id from plane.claim_one('fail_job', 'w1')), :prompt::bigint, 'the job is claimable at once, before fresh work');
select plane.complete_job(:prompt, 2), plane.complete_job(job_id, 1) from plane.claim_one('fail_job', 'w1') \g /dev/null

-- when a budget is the job's own
select pg_temp.held(p_max_dequeues => 1) as once \gset
select is(plane.fail_job(:once, 1, '{}'), 'poison', 'a job''s own budget goes before its queue''s');

-- when tries were given back
select pg_temp.held(p_max_dequeues => 2) as spared \gset
select plane.release_job(:spared, 1), plane.claim_one('fail_job', 'w1'), plane.release_job(:spared, 2),
    plane.claim_one('fail_job', 'w1') \g /dev/null
select is(plane.fail_job(:spared, 3, '{}', '0'), 'pending', 'tries that were given back are not spent');
select plane.claim_one('fail_job', 'w1') \g /dev/null
select is(plane.fail_job(:spared, 4, '{}'), 'poison', 'the others are');

-- given two jobs of one serial key
select pg_temp.held(p_serial_key => 'line', p_max_dequeues => 2) as head \gset
select job_id as next from plane.enqueue('fail_job', 'send', p_serial_key => 'line') \gset
select plane.fail_job(:head, 1, '{}') \g /dev/null
select is((select status from plane.jobs where id = :next), 'waiting', 'while the first pauses, the next one waits');
select pg_temp.later('30 s');
select plane.claim_one('fail_job', 'w1') \g /dev/null
select plane.fail_job(:head, 2, '{}') \g /dev/null
select is((select status from plane.jobs where id = :next), 'pending', 'and is ready once the first is poison');
select plane.complete_job(job_id, attempt) from plane.claim_one('fail_job', 'w1') \g /dev/null

-- given a job that was asked to stop
select pg_temp.held() as cancelling \gset
update plane.lease set cancelled_by = 'ann' where job_id = :cancelling;
select is(plane.fail_job(:cancelling, 1, '{"message": "stopped"}'), 'cancelled', 'a job that was asked to stop is not tried again');
select results_eq(
    format('select j.status, j.error ->> ''by'', a.error ->> ''message'' from plane.jobs j, plane.attempts a
        where j.id = %s and a.job_id = j.id', :cancelling),
    $$ values ('cancelled', 'ann', 'stopped') $$, 'it is cancelled, by whoever asked; its attempt keeps the error');

-- given an error that holds a NUL
select pg_temp.held(p_max_dequeues => 2) as nul \gset
select is(plane.fail_job(:nul, 1, '{"message": "a\u0000b"}', '0'), 'pending', 'an error with a NUL is taken');
select results_eq(
    format('select error ->> ''message'', replaced from plane.attempts where job_id = %s', :nul),
    $$ values (E'a\ufffdb', true) $$, 'the NUL is replaced by U+FFFD and the attempt flagged');
select plane.claim_one('fail_job', 'w1') \g /dev/null
select is(plane.fail_job(:nul, 2, '{"message": "c\u0000d"}'), 'poison', 'also by the last attempt');
select results_eq(
    format('select error ->> ''message'', replaced from plane.outcome where job_id = %s', :nul),
    $$ values (E'c\ufffdd', true) $$, 'whose outcome is flagged too');

-- when the error is at the edge of its size, or anything but an object
select pg_temp.held() as large \gset
select throws_ok(
    format($$ select plane.fail_job(%s, 1, to_json(repeat('x', 1048576 - 1))) $$, :large),
    'PL413', 'a result or error is limited to 1 MiB', 'an error of 1 MiB and a byte is refused');
select is(
    plane.fail_job(:large, 1, to_json(repeat('x', 1048576 - 2)), '0'), 'pending', 'one of 1 MiB is taken');
select plane.claim_one('fail_job', 'w1') \g /dev/null
select is(plane.fail_job(:large, 2, '"no object"', '0'), 'pending', 'an error may be any JSON');

-- when a pause is at the edge of its range
select plane.claim_one('fail_job', 'w1') \g /dev/null
select throws_ok(
    format($$ select plane.fail_job(%s, 3, '{}', '-1 s') $$, :large),
    '22023', 'a pause is between 0 and 365 days', 'a negative pause is refused');
select throws_ok(
    format($$ select plane.fail_job(%s, 3, '{}', '365 days 1 s') $$, :large),
    '22023', 'a pause is between 0 and 365 days', 'a pause beyond 365 days is refused');
select is((select status from plane.jobs where id = :large), 'in_progress', 'and the job stays held');
select pg_temp.held() as patient \gset
select is(plane.fail_job(:patient, 1, '{}', '365 days'), 'pending', 'a pause of 365 days is taken');

select * from finish();
rollback;
