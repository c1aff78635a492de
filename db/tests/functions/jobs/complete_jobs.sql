-- complete_jobs: many answers in one; each counts exactly if its attempt holds the job.
begin;
\ir ../../_clock.sql
select plan(32);

-- jobs that w1 has just claimed, as many as asked for
create function pg_temp.held(p_n integer, p_queue text = 'complete_jobs') returns bigint[] language plpgsql as $$
begin
    perform plane.enqueue(p_queue, 'send') from generate_series(1, p_n);
    return array(select job_id from plane.claim(p_queue, 'w1', p_n));
end;
$$;
create function pg_temp.outcomes(p_job_ids bigint[]) returns table (result text, error text, cache text, replaced boolean) language sql as $$
    select o.result::text, o.error::text, o.cache, o.replaced
    from unnest(p_job_ids) with ordinality as a (job_id, ord) join plane.outcome o using (job_id) order by a.ord
$$;

-- given three jobs that w1 has held for 10 seconds
select pg_temp.freeze('2030-01-01 12:00+00');
select plane.create_queue('complete_jobs', p_lease => '1 min'), plane.create_queue('complete_jobs-2', p_notify => 'waiters') \g /dev/null
select pg_temp.held(3) as jobs \gset
select pg_temp.later('10 s');

-- when they are completed, in whatever order
select results_eq(
    format($$ select * from plane.complete_jobs(array[(%1$L::bigint[])[3], (%1$L::bigint[])[1], (%1$L::bigint[])[2]], array[1, 1, 1],
        array['{"n": 3.10}', null, '{"n": 2}']::json[], array[null, '{"status": 404}', null]::json[], array['hit', null, 'coalesced']) $$, :'jobs'),
    format('select (%1$L::bigint[])[n], true from unnest(array[3, 1, 2]) as n', :'jobs'),
    'each is told to be completed, in the order given');
select results_eq(
    format('select * from pg_temp.outcomes(%L)', :'jobs'),
    $$ values (null::text, '{"status": 404}', null::text, false), ('{"n": 2}', null, 'coalesced', false), ('{"n": 3.10}', null, 'hit', false) $$,
    'with its own result, error and origin');
select results_eq(
    format('select distinct status, dequeue_count, locked_by, claimed_at, finished_at from plane.jobs where id = any (%L)', :'jobs'),
    $$ values ('done', 1, 'w1', timestamptz '2030-01-01 12:00+00', timestamptz '2030-01-01 12:00:10+00') $$,
    'and its times');
select is_empty(format('select from plane.lease where job_id = any (%L)', :'jobs'), 'none is held any more');

-- when they are completed once more
select results_eq(
    format('select completed from plane.complete_jobs(%L, array[1, 1, 1])', :'jobs'), array[false, false, false],
    'jobs are completed once');

-- when some are lost, never were, or come twice
select pg_temp.held(4) as jobs \gset
select plane.release_job((:'jobs'::bigint[])[2], 1) \g /dev/null
select results_eq(
    format('select completed from plane.complete_jobs(%L::bigint[] || array[9223372036854775807, null, (%1$L::bigint[])[1], (%1$L::bigint[])[4]],
        array[1, 1, 2, null, 1, 1, 1, 1], array[''1'', ''2'', ''3'', ''4'', ''5'', ''6'', ''7'', ''8'']::json[])', :'jobs'),
    array[true, false, false, false, false, false, false, true],
    'only attempts that hold their job complete it, and a job that comes twice only once');
select results_eq(
    format('select result from pg_temp.outcomes(%L)', :'jobs'), array['1', '8'], 'by the first that fits');
select is(
    (select status from plane.jobs where id = (:'jobs'::bigint[])[3]), 'in_progress', 'what another attempt was named for stays held');
select is(
    (select status from plane.jobs where id = (:'jobs'::bigint[])[2]), 'pending', 'what was given back stays so');
select plane.complete_job((:'jobs'::bigint[])[3], 1) \g /dev/null
select is_empty($$ select * from plane.complete_jobs('{}', '{}') $$, 'no jobs are none');
select is_empty($$ select * from plane.complete_jobs('{}', '{}', '{}', '{}', '{}') $$, 'with nothing to say of them');

-- when a lease has lapsed, or the job was asked to stop
select job_id as late from plane.claim('complete_jobs', 'w1', 1) \gset
select pg_temp.held(1) as stopped \gset
select plane.request_cancel((:'stopped'::bigint[])[1], 'ann') \g /dev/null
select pg_temp.later('2 min');
select results_eq(
    format('select completed from plane.complete_jobs(array[%s, %s], array[2, 1])', :late, (:'stopped'::bigint[])[1]), array[true, true],
    'a late answer is welcome while nobody else has the job, and so is one to a job that was asked to stop');

-- when content cannot be kept
select pg_temp.held(3) as jobs \gset
select results_eq(
    format($$ select completed from plane.complete_jobs(%L, array[1, 1, 1], array['{"a": "x\u0000y"}', '"C:\\u0000"', null]::json[],
        array[null, null, '"\ud800"']::json[]) $$, :'jobs'),
    array[true, true, true], 'a job never fails for it');
select results_eq(
    format('select result, error, replaced from pg_temp.outcomes(%L)', :'jobs'),
    $$ values ('{"a": "x\ufffdy"}', null, true), ('"C:\\u0000"', null, false), (null, '"\ufffd"', true) $$,
    'it is replaced and flagged, where it is such content');

-- when jobs have dedupe keys
select count(*) from plane.enqueue_many('complete_jobs', (select jsonb_agg(jsonb_build_object('operation', 'k', 'dedupe_key', 'k' || n))
    from generate_series(1, 50) as n)) \g /dev/null
select array_agg(job_id) as jobs from plane.claim('complete_jobs', 'w1', 50) \gset
select is(
    (select count(*) from plane.complete_jobs(:'jobs', array_fill(1, array[50])) where completed), 50::bigint, 'they are completed');
select is_empty(format('select from plane.live_key where job_id = any (%L)', :'jobs'), 'and their keys are free');
select is(
    (select coalesced from plane.enqueue('complete_jobs', 'k', p_dedupe_key => 'k7')), false, 'for the next job');

-- when jobs are heads of serial lines
select count(*) from plane.claim('complete_jobs', 'w1', 100) \g /dev/null
select count(*) from plane.enqueue_many('complete_jobs', '[{"operation": "a1", "serial_key": "a"}, {"operation": "b1", "serial_key": "b"},
    {"operation": "a2", "serial_key": "a"}, {"operation": "c", "serial_key": "c"}, {"operation": "b2", "serial_key": "b"}]') \g /dev/null
select array_agg(job_id) as jobs from plane.claim('complete_jobs', 'w1', 10) \gset
select count(*) from plane.complete_jobs(:'jobs', array[1, 1, 1]) \g /dev/null
select set_eq(
    $$ select operation from plane.claim('complete_jobs', 'w1', 10) $$, array['a2', 'b2'], 'every line goes on');
select is_empty(
    $$ select from plane.line l join plane.queue q on q.id = l.queue_id where q.name = 'complete_jobs' and l.serial_key = 'c' $$,
    'and one that has ended is no more');

-- when jobs are of several queues
select pg_temp.held(1) || pg_temp.held(1, 'complete_jobs-2') as jobs \gset
select results_eq(
    format('select completed from plane.complete_jobs(%L, array[1, 1])', :'jobs'), array[true, true], 'one call completes them');

-- when arrays do not fit together
create function pg_temp.refuses(p_arguments text, p_what text) returns text language sql as $$
    select throws_ok('select plane.complete_jobs(' || p_arguments || ')', '22023', 'the arrays must be of one length', p_what)
$$;
select pg_temp.refuses('null, array[1]', 'NULL is no jobs');
select pg_temp.refuses('array[1]::bigint[], null', 'NULL is no attempts');
select pg_temp.refuses('array[1, 2]::bigint[], array[1]', 'each job has an attempt');
select pg_temp.refuses('array[1]::bigint[], array[1, 1]', 'each attempt a job');
select pg_temp.refuses('array[1]::bigint[], array[1], array[]::json[]', 'results are as many');
select pg_temp.refuses('array[1]::bigint[], array[1], null, array[null, null]::json[]', 'so are errors');
select pg_temp.refuses('array[1]::bigint[], array[1], null, null, array[null, null]::text[]', 'so are caches');

-- when an element cannot be
select pg_temp.held(2) as jobs \gset
create function pg_temp.detail(p_job_ids bigint[], p_results json[], p_caches text[]) returns text language plpgsql as $$
declare
    v_detail text;
begin
    perform plane.complete_jobs(p_job_ids, array[1, 1], p_results, null, p_caches);
    return null;
exception
    when sqlstate '22023' or sqlstate 'PL413' then
        get stacked diagnostics v_detail = pg_exception_detail;
        return v_detail;
end;
$$;
select throws_ok(
    format($$ select plane.complete_jobs(%L, array[1, 1], null, null, array['hit', 'warm']) $$, :'jobs'),
    '22023', 'cache is hit, coalesced or NULL', 'no other origin can be given');
select is(pg_temp.detail(:'jobs', null, array[null, 'warm']), 'element=2 cache=warm', 'the element is named');
select throws_ok(
    format($$ select plane.complete_jobs(%L, array[1, 1], array['1', to_json(repeat('x', 1048576 - 1))]) $$, :'jobs'),
    'PL413', 'a result or error is limited to 1 MiB', 'a result of 1 MiB and a byte is refused');
select is(
    pg_temp.detail(:'jobs', array['1', to_json(repeat('x', 1048576 - 1))], null), 'element=2 result_bytes=1048577 error_bytes=0',
    'the element is named');
select is(
    (select count(*) from plane.lease where job_id = any (:'jobs')), 2::bigint, 'and all jobs stay held');

select * from finish();
rollback;
