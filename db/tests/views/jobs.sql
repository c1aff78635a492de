-- jobs: every job, live and finished alike, one row each.
begin;
\ir ../_clock.sql
select plan(22);

create function pg_temp.shown(p_job_id bigint) returns text language sql as $$
    select concat_ws(' ', status, priority, dequeue_count || '/' || max_dequeues,
        'due ' || to_char(available_at at time zone 'UTC', 'HH24:MI:SS'), 'by ' || locked_by,
        'until ' || to_char(lease_expires_at at time zone 'UTC', 'HH24:MI:SS'),
        'since ' || to_char(claimed_at at time zone 'UTC', 'HH24:MI:SS'),
        'end ' || to_char(finished_at at time zone 'UTC', 'HH24:MI:SS'))
    from plane.jobs where id = p_job_id
$$;
create function pg_temp.shows(p_job_id bigint, p_row text, p_what text) returns text language sql as $$
    select is(pg_temp.shown(p_job_id), p_row, p_what)
$$;

-- then the columns are those that cards and charts rely on
select columns_are('plane', 'jobs', array['id', 'queue', 'operation', 'version', 'params', 'envelope', 'scope_key', 'dedupe_key',
    'serial_key', 'priority', 'status', 'dequeue_count', 'max_dequeues', 'available_at', 'locked_by', 'lease_expires_at', 'progress',
    'result', 'error', 'cache', 'created_at', 'claimed_at', 'finished_at']);

-- given a job
select pg_temp.freeze('2030-01-01 12:00+00');
select plane.create_queue('jobs', p_lease => '1 min', p_backoff => '30 s', p_max_dequeues => 2);
select plane.create_queue('jobs-other');
select job_id from plane.enqueue('jobs', 'send', '{"to": "ann"}', '{"client": "acme"}', 'key', 'line', 3,
    '2030-01-01 12:00:10+00', p_version => 2) \gset

-- then it is shown wherever it is
select results_eq(
    format('select queue, operation, version, params, envelope, scope_key, dedupe_key, serial_key, created_at from plane.jobs where id = %s', :job_id),
    $$ values ('jobs', 'send', 2, '{"to": "ann"}'::jsonb, '{"client": "acme"}'::jsonb, null::text, 'key', 'line', timestamptz '2030-01-01 12:00+00') $$,
    'a job is shown as it was asked for');
select pg_temp.shows(:job_id, 'pending 3 0/2 due 12:00:10', 'a scheduled job');
select pg_temp.later('10 s');
select plane.sweep() \g /dev/null
select pg_temp.shows(:job_id, 'pending 3 0/2', 'a job that became due');
select job_id as behind from plane.enqueue('jobs', 'behind', p_serial_key => 'line', p_priority => 1) \gset
select pg_temp.shows(:behind, 'waiting 1 0/2', 'a job behind the head of its serial line');
select plane.claim_one('jobs', 'w1') \g /dev/null
select pg_temp.shows(:job_id, 'in_progress 3 1/2 by w1 until 12:01:10 since 12:00:10', 'a held job');
select plane.report_progress(:job_id, 1, 1, 2, 'half') \g /dev/null
select is((select progress from plane.jobs where id = :job_id), '{"done": 1, "total": 2, "message": "half"}', 'and its progress');
update plane.lease set cancelled_by = 'ann' where job_id = :job_id;
select pg_temp.shows(:job_id, 'cancelling 3 1/2 by w1 until 12:01:10 since 12:00:10', 'a job that was asked to stop');
update plane.lease set cancelled_by = null where job_id = :job_id;
select plane.fail_job(:job_id, 1, '{"message": "no"}') \g /dev/null
select pg_temp.shows(:job_id, 'pending 3 1/2 due 12:00:40', 'a job in backoff');
select pg_temp.later('30 s');
select plane.claim_one('jobs', 'w2') \g /dev/null
select plane.release_job(:job_id, 2) \g /dev/null
select pg_temp.shows(:job_id, 'pending 3 2/3', 'a job that was released');
select plane.claim_one('jobs', 'w3'), plane.fail_job(:job_id, 3, '{"message": "never"}') \g /dev/null
select pg_temp.shows(:job_id, 'poison 3 3/3 by w3 since 12:00:40 end 12:00:40', 'a job that is poison');
select is((select error::text from plane.jobs where id = :job_id), '{"message": "never"}', 'and its error');
select pg_temp.shows(:behind, 'pending 1 0/2', 'a job whose line was handed on to it');

-- given a job straight from enqueue
select job_id as plain from plane.enqueue('jobs', 'plain', p_dedupe_key => 'plain') \gset
select pg_temp.shows(:plain, 'pending 0 0/2 due 12:00:40', 'a job is due from when it was enqueued');
select plane.enqueue('jobs', 'plain', p_dedupe_key => 'plain', p_priority => -7) \g /dev/null
select pg_temp.shows(:plain, 'pending -7 0/2', 'a job that was made urgent has the priority that counts');
select plane.claim_one('jobs', 'w1') \g /dev/null
select pg_temp.later('1 s');
select plane.complete_job(:plain, 1, '[1.0]', p_cache => 'coalesced') \g /dev/null
select pg_temp.shows(:plain, 'done 0 1/2 by w1 since 12:00:40 end 12:00:41', 'a job that is done');
select results_eq(
    format('select result::text, error::text, cache from plane.jobs where id = %s', :plain),
    $$ values ('[1.0]', null::text, 'coalesced') $$, 'and its answer');
select job_id as cancelled from plane.enqueue('jobs', 'cancelled', p_priority => -1) \gset
select plane.claim_one('jobs', 'w1') \g /dev/null
update plane.lease set cancelled_by = 'ann' where job_id = :cancelled;
select plane.release_job(:cancelled, 1) \g /dev/null
select pg_temp.shows(:cancelled, 'cancelled -1 1/2 by w1 since 12:00:41 end 12:00:41', 'a job that was cancelled');

-- then no job is shown twice, or not at all
select plane.enqueue('jobs-other', 'send') \g /dev/null
select results_eq(
    $$ select queue, count(*), count(distinct id) from plane.jobs where queue in ('jobs', 'jobs-other') group by queue order by queue $$,
    $$ values ('jobs', 4::bigint, 4::bigint), ('jobs-other', 1::bigint, 1::bigint) $$, 'each job is one row');
select results_eq(
    $$ select status, count(*) from plane.jobs where queue = 'jobs' group by status order by status $$,
    $$ values ('cancelled', 1::bigint), ('done', 1), ('pending', 1), ('poison', 1) $$, 'of one status');

-- when a DBA reads it
set local role plane_admin;
select is((select count(*) from plane.jobs where queue = 'jobs'), 4::bigint, 'an admin reads it');
reset role;
set local role plane_reader;
select throws_ok($$ select from plane.jobs $$, '42501', 'permission denied for view jobs', 'a reader does not');
reset role;

select * from finish();
rollback;
