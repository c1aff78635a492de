-- attempts: each attempt at each job, ended or under way.
begin;
\ir ../_clock.sql
select plan(12);

create function pg_temp.shows(p_job_id bigint, p_attempts text[], p_what text) returns text language sql as $$
    select is(
        array(
            select concat_ws(' ', attempt, worker, to_char(claimed_at at time zone 'UTC', 'HH24:MI:SS'),
                to_char(ended_at at time zone 'UTC', 'HH24:MI:SS'), outcome, error ->> 'message', case when replaced then 'replaced' end)
            from plane.attempts where job_id = p_job_id order by attempt),
        p_attempts, p_what)
$$;

-- then the columns are those that cards and charts rely on
select columns_are('plane', 'attempts', array['job_id', 'attempt', 'worker', 'claimed_at', 'ended_at', 'outcome', 'error', 'replaced']);

-- given a job that takes many attempts
select pg_temp.freeze('2030-01-01 12:00+00');
select plane.create_queue('attempts', p_lease => '1 min', p_backoff => '0', p_max_dequeues => 9);
select job_id from plane.enqueue('attempts', 'send') \gset
select pg_temp.shows(:job_id, '{}', 'a job that nobody claimed has none');
select plane.claim_one('attempts', 'w1') \g /dev/null
select pg_temp.shows(:job_id, array['1 w1 12:00:00 in_progress'], 'an attempt under way has no end');
update plane.lease set cancelled_by = 'ann' where job_id = :job_id;
select pg_temp.shows(:job_id, array['1 w1 12:00:00 cancelling'], 'an attempt that was asked to stop is stopping');
update plane.lease set cancelled_by = null where job_id = :job_id;
select pg_temp.later('5 s');
select plane.release_job(:job_id, 1), plane.claim_one('attempts', 'w2') \g /dev/null
select pg_temp.later('60 s');
select plane.claim_one('attempts', 'w3') \g /dev/null
select plane.fail_job(:job_id, 3, '{"message": "no\u0000"}'), plane.claim_one('attempts', 'w4') \g /dev/null
select pg_temp.later('1 s');
select plane.complete_job(:job_id, 4, '{}') \g /dev/null
select pg_temp.shows(:job_id, array['1 w1 12:00:00 12:00:05 released',
    '2 w2 12:00:05 12:01:05 lapsed the worker stopped renewing its lease', E'3 w3 12:01:05 12:01:05 failed no\ufffd replaced',
    '4 w4 12:01:05 12:01:06 done'], 'each attempt is told with its worker, its times and how it ended');

-- given jobs that end otherwise
select plane.create_queue('attempts', p_max_dequeues => 1);
select job_id as refused from plane.enqueue('attempts', 'refused') \gset
select plane.claim_one('attempts', 'w1'), plane.complete_job(:refused, 1, null, '{"message": "no such flight"}') \g /dev/null
select pg_temp.shows(:refused, array['1 w1 12:01:06 12:01:06 done no such flight'], 'a refusal is done, with what it answered');
select job_id as poison from plane.enqueue('attempts', 'poison') \gset
select plane.claim_one('attempts', 'w1'), plane.fail_job(:poison, 1, '{"message": "no"}') \g /dev/null
select pg_temp.shows(:poison, array['1 w1 12:01:06 12:01:06 failed no'], 'the attempt that made poison is one, and failed');
select job_id as cancelled from plane.enqueue('attempts', 'cancelled') \gset
select plane.claim_one('attempts', 'w1') \g /dev/null
update plane.lease set cancelled_by = 'ann' where job_id = :cancelled;
select plane.fail_job(:cancelled, 1, '{"message": "stopped"}') \g /dev/null
select pg_temp.shows(:cancelled, array['1 w1 12:01:06 12:01:06 failed stopped'], 'so is the attempt of a job that was cancelled');
select job_id as nul from plane.enqueue('attempts', 'nul') \gset
select plane.claim_one('attempts', 'w1'), plane.complete_job(:nul, 1, '"\u0000"') \g /dev/null
select pg_temp.shows(:nul, array['1 w1 12:01:06 12:01:06 done replaced'], 'an answer that could not be kept as it was is marked');

-- then the attempts of a job are as many as it was claimed
select is_empty(
    $$ select j.id from plane.jobs j left join plane.attempts a on a.job_id = j.id where j.queue = 'attempts'
       group by j.id, j.dequeue_count having count(a.attempt) <> j.dequeue_count $$,
    'no attempt is missing, or told twice');

-- when a DBA reads it
set local role plane_admin;
select is((select count(*) from plane.attempts where job_id = :job_id), 4::bigint, 'an admin reads it');
reset role;
set local role plane_worker;
select throws_ok($$ select from plane.attempts $$, '42501', 'permission denied for view attempts', 'a worker does not');
reset role;

select * from finish();
rollback;
