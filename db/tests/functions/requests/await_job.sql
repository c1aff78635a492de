-- await_job: get_job for one who has registered as a waiter. That no ending slips between the two takes
-- two sessions to see.
begin;
\ir ../../_clock.sql
\ir _surface.sql
select plan(14);

create function pg_temp.as_get_job(p_job_id bigint, p_status text, p_what text) returns text language sql as $$
    select is(
        (select array[a.status, a::text] from plane.await_job('await_job', p_job_id, pg_temp.key()) as a),
        (select array[p_status, g::text] from plane.get_job('await_job', p_job_id, pg_temp.key()) as g),
        p_what)
$$;

-- given a caller that waits for its job
select pg_temp.freeze('2030-01-01 12:00+00');
select pg_temp.surface('await_job');
select pg_temp.surface('await_job-other');
select pg_temp.asked('await_job') as job_id \gset
select plane.register_waiter('await_job', :job_id, pg_temp.key(), 'edge-1', '60 s') \g /dev/null

-- then it reads what get_job says, wherever the job is
select pg_temp.as_get_job(:job_id, 'pending', 'a job that is ready is pending');
select plane.claim_one('await_job', 'w1') \g /dev/null
select is_empty(
    format('select plane.await_job(''await_job'', %s, ''another'')', :job_id), 'another scope sees nothing of a job that is held');
select is((select xmax::text from plane.lease where job_id = :job_id), '0', 'and locks nothing');
select pg_temp.as_get_job(:job_id, 'in_progress', 'a job that is held is in progress');
select isnt(
    (select xmax::text from plane.lease where job_id = :job_id), '0', 'and its lease is locked, so that it cannot end unseen');
select plane.fail_job(:job_id, 1, '{}') \g /dev/null
select pg_temp.as_get_job(:job_id, 'pending', 'a job in backoff is pending');
select pg_temp.later('30 s');
select plane.claim_one('await_job', 'w1'), plane.complete_job(:job_id, 2, '{"n": 1.50}') \g /dev/null
select pg_temp.as_get_job(:job_id, 'done', 'a job that is done has its result');

-- then another scope or surface sees nothing
create function pg_temp.hidden(p_queue text, p_job_id bigint, p_scope_key text, p_what text) returns text language sql as $$
    select is_empty(format('select plane.await_job(%L, %L, %L)', p_queue, p_job_id, p_scope_key), p_what)
$$;
select pg_temp.hidden('await_job', :job_id, plane.scope_key('acme', '["south"]', false), 'another scope''s job is no row');
select pg_temp.hidden('await_job-other', :job_id, pg_temp.key(), 'another surface''s job is no row');
select pg_temp.hidden('await_job', :job_id, null, 'no scope sees nothing');
select pg_temp.hidden('await_job', 9223372036854775807, pg_temp.key(), 'a job that does not exist is no row');
select pg_temp.hidden('await_job', null, pg_temp.key(), 'nor is NULL');

-- when the queue does not exist
select throws_ok(
    format($$ select plane.await_job('await_job-none', %s, pg_temp.key()) $$, :job_id),
    'PL404', 'no such queue', 'a queue that does not exist is refused');
select throws_ok(
    format($$ select plane.await_job(null, %s, pg_temp.key()) $$, :job_id), 'PL404', 'no such queue', 'NULL is no queue');

select * from finish();
rollback;
