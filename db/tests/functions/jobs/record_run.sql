-- record_run: what an execution took; bad or late, it disturbs no job.
begin;
\ir ../../_clock.sql
select plan(25);

create function pg_temp.runs() returns setof plane.worker_runs language sql as $$
    select * from plane.worker_runs where queue = 'record_run' order by recorded_at, job_id
$$;

-- given a queue
select pg_temp.freeze('2030-01-01 12:00+00');
select plane.create_queue('record_run');

-- when runs are told, with all that is known or as little as there can be
select lives_ok(
    $$ select plane.record_run('record_run', 'w1', 7, 2, 'ask', 'done', '2030-01-01 11:59:58+00', 3, 'hit', 1200.5, 80.25, 60, 104857600) $$,
    'of a job that the ledger knows, or does not');
select lives_ok(
    $$ select plane.record_run(p_queue => 'record_run', p_worker => 'w1', p_job_id => 8, p_attempt => 1, p_operation => 'ask',
        p_outcome => 'lost', p_started_at => '2030-01-01 13:00+00') $$,
    'measures may be missing, and the worker''s clock may be ahead');
select results_eq(
    'select * from pg_temp.runs()',
    $$ values (7::bigint, 2, 'w1', 'record_run', 'ask', 3, 'done', 'hit', 1200.5::float8, 80.25::float8, 60::float8, 104857600::bigint,
            timestamptz '2030-01-01 11:59:58+00', timestamptz '2030-01-01 12:00+00'),
        (8, 1, 'w1', 'record_run', 'ask', null, 'lost', null, null, null, null, null, '2030-01-01 13:00+00', '2030-01-01 12:00+00') $$,
    'they are shown as told');
select lives_ok(
    format('select plane.record_run(''record_run'', ''w1'', 1, 1, ''ask'', %L, now())', outcome), outcome || ' is an outcome')
from unnest(array['refused', 'pending', 'poison', 'cancelled', 'released', 'unsettled']) as outcome;

-- when something cannot be
create function pg_temp.refuses(
    p_what text, p_worker text = 'w', p_job_id bigint = 1, p_attempt integer = 1, p_operation text = 'ask', p_outcome text = 'done',
    p_started_at timestamptz = '2030-01-01', p_version integer = 1, p_cache text = null, p_wait double precision = 0,
    p_wall double precision = 0, p_cpu double precision = 0, p_rss bigint = 0, p_queue text = 'record_run',
    p_code text = '22023', p_message text = 'what is told of a run is out of range') returns text language sql as $$
    select throws_ok(
        format('select plane.record_run(%L, %L, %L, %L, %L, %L, %L, %L, %L, %L, %L, %L, %L)', p_queue, p_worker, p_job_id, p_attempt,
            p_operation, p_outcome, p_started_at, p_version, p_cache, p_wait, p_wall, p_cpu, p_rss),
        p_code, p_message, p_what)
$$;
select pg_temp.refuses('a job has a number', p_job_id => null);
select pg_temp.refuses('above 0', p_job_id => 0);
select pg_temp.refuses('as has an attempt', p_attempt => 0);
select pg_temp.refuses('a version is 1 or more', p_version => 0);
select pg_temp.refuses('an operation has a name', p_operation => '');
select pg_temp.refuses('of 200 characters', p_operation => repeat('x', 201));
select pg_temp.refuses('an outcome is one of a few', p_outcome => 'well');
select pg_temp.refuses('a run has begun', p_started_at => null);
select pg_temp.refuses('at some time', p_started_at => 'infinity');
select pg_temp.refuses('a wait is not negative', p_wait => -1);
select pg_temp.refuses('a time is a number', p_wall => 'NaN');
select pg_temp.refuses('and ends', p_cpu => 'infinity');
select pg_temp.refuses('memory is not negative', p_rss => -1);
select pg_temp.refuses('a worker has a name', p_worker => '', p_message => 'a worker needs a name of 1 to 200 characters');
select pg_temp.refuses('a cache is one of two', p_cache => 'miss', p_message => 'cache is hit, coalesced or NULL');
select pg_temp.refuses('a queue exists', p_queue => 'nowhere', p_code => 'PL404', p_message => 'no such queue');

select * from finish();
rollback;
