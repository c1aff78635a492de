-- retry_job: a person has removed what made a job poison, and wants it done.
begin;
\ir ../../_clock.sql
select plan(32);

-- a new job that is poison
create function pg_temp.poison(p_dedupe_key text default null, p_serial_key text default null, p_priority integer default 0)
    returns bigint language plpgsql as $$
declare
    v_job_id bigint := (select job_id from plane.enqueue('retry_job', 'send', p_dedupe_key => p_dedupe_key,
        p_serial_key => p_serial_key, p_priority => p_priority));
begin
    for v_attempt in 1 .. 2 loop
        perform plane.claim_one('retry_job', 'w1'), plane.fail_job(v_job_id, v_attempt, '{"message": "no"}');
    end loop;
    return v_job_id;
end;
$$;
create function pg_temp.told(p_job_id bigint) returns text language sql as $$
    select concat_ws(' ', status, priority, dequeue_count || '/' || max_dequeues, result, error) from plane.jobs where id = p_job_id
$$;

-- given a job that is poison
select pg_temp.freeze('2030-01-01 12:00+00');
select plane.create_queue('retry_job', p_max_dequeues => 2, p_backoff => '0', p_lease => '1 min');
select pg_temp.poison('key', p_priority => 3) as job_id \gset
select is(pg_temp.told(:job_id), 'poison 3 2/2 {"message": "no"}', 'a job is poison');

-- when it is retried
select is(plane.retry_job(:job_id), :job_id::bigint, 'it can be retried');
select is(pg_temp.told(:job_id), 'pending 3 2/4', 'it is pending, with as many attempts more as it was given');
select results_eq(
    format('select attempt, outcome, error ->> ''message'' from plane.attempts where job_id = %s order by attempt', :job_id),
    $$ values (1, 'failed', 'no'), (2, 'failed', 'no') $$, 'its attempts stay on record');
select is(
    (select job_id from plane.enqueue('retry_job', 'send', p_dedupe_key => 'key')), :job_id::bigint,
    'it has its dedupe key again');
select throws_ok(
    format('select plane.retry_job(%s)', :job_id), 'PL409', 'only a poison job can be retried', 'it is retried once');
select is((select attempt from plane.claim_one('retry_job', 'w2')), 3, 'its attempt number goes on growing');
select is(plane.complete_job(:job_id, 2, '"late"'), false, 'an attempt of before can never answer it');
select is(plane.fail_job(:job_id, 2, '{}'), 'lost', 'nor fail it');
select is(plane.fail_job(:job_id, 3, '{}', '0'), 'pending', 'it may fail again');
select plane.claim_one('retry_job', 'w2') \g /dev/null
select is(plane.fail_job(:job_id, 4, '{}'), 'poison', 'and is poison again when the new budget is spent');
select plane.retry_job(:job_id) \g /dev/null
select plane.claim_one('retry_job', 'w2') \g /dev/null
select is(plane.complete_job(:job_id, 5, '"sent"'), true, 'retried again, it can be answered');
select is(pg_temp.told(:job_id), 'done 3 5/6 "sent"', 'and is done');
select throws_ok(
    format('select plane.retry_job(%s)', :job_id), 'PL409', 'only a poison job can be retried', 'a job that is done is not retried');

-- given a poison job whose question another job answers
select pg_temp.poison('shared') as old \gset
select job_id as new from plane.enqueue('retry_job', 'send', p_dedupe_key => 'shared') \gset
select is(plane.retry_job(:old), :new::bigint, 'where another live job has its dedupe key, that one is the answer');
select is(pg_temp.told(:old), 'poison 0 2/2 {"message": "no"}', 'and the poison stays as it was');
select is(pg_temp.told(:new), 'pending 0 0/2', 'so does the other');
select plane.request_cancel(:new, 'ann') \g /dev/null
select is(plane.retry_job(:old), :old::bigint, 'once that one has ended, the poison can be retried');
select plane.request_cancel(:old, 'ann') \g /dev/null
select throws_ok(
    format('select plane.retry_job(%s)', :old), 'PL409', 'only a poison job can be retried', 'a cancelled job is not retried');

-- given a key that a job was asked to give up
select pg_temp.poison('given up') as old \gset
select job_id as new from plane.enqueue('retry_job', 'send', p_dedupe_key => 'given up') \gset
select plane.claim_one('retry_job', 'w1'), plane.request_cancel(:new, 'ann') \g /dev/null
select is(plane.retry_job(:old), :old::bigint, 'a job that is being cancelled answers nothing');
select plane.finish_cancel(:new, 1), plane.request_cancel(:old, 'ann') \g /dev/null

-- given a serial line
select pg_temp.poison(p_serial_key => 'line') as lost \gset
select job_id as head from plane.enqueue('retry_job', 'send', p_serial_key => 'line') \gset
select job_id as second from plane.enqueue('retry_job', 'send', p_serial_key => 'line') \gset
select is(plane.retry_job(:lost), :lost::bigint, 'a job of a serial key can be retried');
select is(pg_temp.told(:lost), 'waiting 0 2/4', 'it waits in its line');
select plane.claim_one('retry_job', 'w1'), plane.complete_job(:head, 1) \g /dev/null
select is((select job_id from plane.claim_one('retry_job', 'w1')), :second::bigint, 'behind those who came before');
select plane.complete_job(:second, 1) \g /dev/null
select is((select job_id from plane.claim_one('retry_job', 'w1')), :lost::bigint, 'until its turn comes');
select plane.complete_job(:lost, 3) \g /dev/null
select pg_temp.poison(p_serial_key => 'line') as alone \gset
select plane.retry_job(:alone) \g /dev/null
select is(pg_temp.told(:alone), 'pending 0 2/4', 'alone in its line it is at the head');

-- when it is not poison
select job_id as ready from plane.enqueue('retry_job', 'send', p_available_at => plane._now() + interval '1 h') \gset
select throws_ok(
    format('select plane.retry_job(%s)', :ready), 'PL409', 'only a poison job can be retried', 'a live job is not retried');
select is(pg_temp.told(:ready), 'pending 0 0/2', 'and stays as it is');

-- when it may not use a cache
select is((select r.fresh from plane.ready r where r.job_id = :alone), true, 'a retried job is run, whatever caches have');

-- when there is no such job
select throws_ok($$ select plane.retry_job(9223372036854775807) $$, 'PL404', 'no such job', 'an unknown job is refused');
select throws_ok($$ select plane.retry_job(null) $$, 'PL404', 'no such job', 'so is NULL');

-- when its queue has been dropped meanwhile, which left it there, unseen
savepoint dropped;
select pg_temp.poison() as left_over \gset
delete from plane.queue where name = 'retry_job';
select throws_ok(
    format('select plane.retry_job(%s)', :left_over), 'PL404', 'no such job', 'a job without a queue is not retried');
rollback to dropped;

-- when its pauses grow
select plane.complete_job(job_id, attempt) from plane.claim_one('retry_job', 'w1') \g /dev/null
select pg_temp.poison() as slow \gset
select plane.create_queue('retry_job', p_backoff => '10 s', p_backoff_factor => 1000);
select plane.retry_job(:slow) \g /dev/null
select plane.claim_one('retry_job', 'w1'), plane.fail_job(:slow, 3, '{}') \g /dev/null
select cmp_ok(
    (select available_at - plane._now() from plane.jobs where id = :slow), '<', interval '1 min', 'a retried job''s pauses begin anew');

select * from finish();
rollback;
