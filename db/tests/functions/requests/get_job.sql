-- get_job: what a caller of this scope on this surface may see of one job.
begin;
\ir ../../_clock.sql
\ir _surface.sql
select plan(34);

create function pg_temp.seen(p_job_id bigint) returns table (
    status text, result text, error text, cache text, "position" integer, claimed_at timestamptz, finished_at timestamptz)
    language sql as $$
    select status, result::text, error::text, cache, "position", claimed_at, finished_at
    from plane.get_job('get_job', p_job_id, pg_temp.key())
$$;

-- given a request
select pg_temp.freeze('2030-01-01 12:00+00');
select pg_temp.surface('get_job');
select pg_temp.surface('get_job-other');
select pg_temp.asked('get_job') as job_id \gset

-- then its caller sees it, from its beginning to its end
select results_eq(
    format('select job_id, scope_key, status, progress, result::text, error::text, cache, position, created_at, claimed_at, finished_at
        from plane.get_job(''get_job'', %s, pg_temp.key())', :job_id),
    format($$ values (%s::bigint, pg_temp.key(), 'pending', null::jsonb, null::text, null::text, null::text, 1,
        timestamptz '2030-01-01 12:00+00', null::timestamptz, null::timestamptz) $$, :job_id),
    'a job that was asked for is pending');
select pg_temp.later('1 s');
select plane.claim_one('get_job', 'w1') \g /dev/null
select results_eq(
    format('select * from pg_temp.seen(%s)', :job_id),
    $$ values ('in_progress', null::text, null::text, null::text, null::integer, timestamptz '2030-01-01 12:00:01+00', null::timestamptz) $$,
    'a job that is held is in progress since it was claimed');
select plane.report_progress(:job_id, 1, 1, 3, null) \g /dev/null
select is(
    (select progress from plane.get_job('get_job', :job_id, pg_temp.key())), '{"done": 1, "total": 3, "message": null}'::jsonb,
    'and shows its progress');
select plane.fail_job(:job_id, 1, '{"message": "secret"}') \g /dev/null
select results_eq(
    format('select * from pg_temp.seen(%s)', :job_id),
    $$ values ('pending', null::text, null::text, null::text, null::integer, null::timestamptz, null::timestamptz) $$,
    'a job in backoff is pending, and its failure is not told');
select pg_temp.later('30 s');
select plane.claim_one('get_job', 'w1') \g /dev/null
select plane.complete_job(:job_id, 2, '{"n": 9007199254740993.10}', p_cache => 'hit') \g /dev/null
select results_eq(
    format('select * from pg_temp.seen(%s)', :job_id),
    $$ values ('done', '{"n": 9007199254740993.10}', null::text, 'hit', null::integer,
        timestamptz '2030-01-01 12:00:31+00', timestamptz '2030-01-01 12:00:31+00') $$,
    'a job that is done has its result, digit for digit, and its cache and times');

-- when the answer is a refusal
select pg_temp.asked('get_job', 1) as refused \gset
select plane.claim_one('get_job', 'w1'), plane.complete_job(:refused, 1, null, '{"status": 404, "code": "NONE"}') \g /dev/null
select results_eq(
    format('select status, result, error from pg_temp.seen(%s)', :refused),
    $$ values ('done', null::text, '{"status": 404, "code": "NONE"}') $$, 'a refusal is an answer: done, with an error');

-- when a job cannot be done
select plane.create_queue('get_job', p_max_dequeues => 1);
select pg_temp.asked('get_job', 2) as poison, pg_temp.asked('get_job', 3) as cancelled \gset
select plane.claim('get_job', 'w1', 2), plane.fail_job(:poison, 1, '{"message": "no"}') \g /dev/null
select results_eq(
    format('select status, error, claimed_at, finished_at from pg_temp.seen(%s)', :poison),
    $$ values ('poison', '{"message": "no"}', timestamptz '2030-01-01 12:00:31+00', timestamptz '2030-01-01 12:00:31+00') $$,
    'poison is told with its error');
update plane.lease set cancelled_by = 'ann' where job_id = :cancelled;
select is((select status from pg_temp.seen(:cancelled)), 'cancelling', 'a job that was asked to stop is told to be stopping');
select plane.release_job(:cancelled, 1);
select is((select status from pg_temp.seen(:cancelled)), 'cancelled', 'and cancelled when it has stopped');

-- given jobs that are ready
select plane.create_queue('get_job', p_max_dequeues => 9);
select pg_temp.asked('get_job', 4) as a, pg_temp.asked('get_job', 5) as b, pg_temp.asked('get_job', 6) as c,
    pg_temp.asked('get_job-other', 7) as elsewhere \gset
create function pg_temp.positions(variadic p_job_ids bigint[]) returns integer[] language sql as $$
    select array_agg(s.position order by i.ord)
    from unnest(p_job_ids) with ordinality as i (id, ord) left join lateral pg_temp.seen(i.id) as s on true
$$;

-- then each knows its place
select is(pg_temp.positions(:a, :b, :c), '{1,2,3}', 'the oldest is the first');
select is(
    (select position from plane.get_job('get_job-other', :elsewhere, pg_temp.key())), 1,
    'the jobs of another queue do not count');
select plane.claim_one('get_job', 'w1') \g /dev/null
select is(pg_temp.positions(:a, :b, :c), '{null,1,2}', 'who is claimed has none, and the others move up');
select plane.enqueue('get_job', 'urgent', p_priority => -1), plane.enqueue('get_job', 'patient', p_priority => 1) \g /dev/null
select is(pg_temp.positions(:a, :b, :c), '{null,2,3}', 'more urgent work counts before them');
select plane.release_job(:a, 1);
select is(pg_temp.positions(:a, :b, :c), '{2,3,4}', 'what came back is before fresh work again');
select is(
    array(select job_id from plane.claim('get_job', 'w1', 10) where job_id in (:a, :b, :c)), array[:a, :b, :c]::bigint[],
    'and that is the order of claims');

-- given a job in the serial line of another
select plane.enqueue('get_job', 'ask', p_serial_key => 'line') \g /dev/null
select job_id as waiting from plane.enqueue('get_job', 'ask', p_serial_key => 'line') \gset
update plane.job set scope_key = pg_temp.key() where id = :waiting;
select results_eq(
    format('select status, position from pg_temp.seen(%s)', :waiting), $$ values ('waiting', null::integer) $$,
    'a job behind another one of its line is waiting, and has no place among the ready');

-- then another scope or surface sees nothing
create function pg_temp.hidden(p_queue text, p_job_id bigint, p_scope_key text, p_what text) returns text language sql as $$
    select is_empty(format('select plane.get_job(%L, %s, %L)', p_queue, p_job_id, p_scope_key), p_what)
$$;
select pg_temp.hidden('get_job', :job_id, plane.scope_key('acme', '["south"]', false), 'another scope''s job is no row');
select pg_temp.hidden('get_job', :job_id, plane.scope_key('umbrella', '["north"]', false), 'nor is another client''s');
select pg_temp.hidden('get_job', :job_id, plane.scope_key('acme', '["north"]', true), 'staff reads by a key of its own');
select pg_temp.hidden('get_job', :job_id, plane.scope_key('acme', '["north"]', false, 'ann'), 'so does a person');
select pg_temp.hidden('get_job-other', :job_id, pg_temp.key(), 'another surface''s job is no row');
select pg_temp.hidden('get_job', :job_id, null, 'no scope sees nothing');
select pg_temp.hidden('get_job', :job_id, '', 'nor does an empty one');
select pg_temp.hidden('get_job', :job_id, upper(pg_temp.key()), 'nor one in other letters');
select pg_temp.hidden('get_job', 9223372036854775807, pg_temp.key(), 'a job that does not exist is no row');
select pg_temp.hidden('get_job', -1, pg_temp.key(), 'nor is a negative one');
select is_empty($$ select plane.get_job('get_job', null, pg_temp.key()) $$, 'nor is NULL');
select job_id as enqueued from plane.enqueue('get_job', 'send') \gset
select pg_temp.hidden('get_job', :enqueued, null, 'a job that was enqueued without a scope is not for those without one');
select pg_temp.hidden('get_job', :enqueued, pg_temp.key(), 'nor for any other');

-- given an operation per actor
select job_id as mine from plane.submit_request('get_job', 'mine', '{}', pg_temp.envelope()) \gset
select pg_temp.hidden('get_job', :mine, pg_temp.key(), 'its answer is hidden from the scope');
select pg_temp.hidden('get_job', :mine, plane.scope_key('acme', '["north"]', false, 'bob'), 'and from another person of it');
select is(
    (select job_id from plane.get_job('get_job', :mine, plane.scope_key('acme', '["north"]', false, 'ann'))), :mine::bigint,
    'and seen by the person who asked');

-- when the queue does not exist
select throws_ok(
    format($$ select plane.get_job('get_job-none', %s, pg_temp.key()) $$, :job_id),
    'PL404', 'no such queue', 'a queue that does not exist is refused');
select throws_ok(
    format($$ select plane.get_job(null, %s, pg_temp.key()) $$, :job_id), 'PL404', 'no such queue', 'NULL is no queue');

select * from finish();
rollback;
