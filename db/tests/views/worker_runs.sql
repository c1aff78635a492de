-- worker_runs: what executions took, for charts and cards.
begin;
select plan(4);

select columns_are('plane', 'worker_runs', array['job_id', 'attempt', 'worker', 'queue', 'operation', 'version', 'outcome', 'cache',
    'queue_wait_ms', 'wall_ms', 'cpu_ms', 'rss_bytes', 'started_at', 'recorded_at']);

-- given the runs of an hour
select plane.create_queue('worker_runs');
select plane.record_run('worker_runs', 'w1', n, 1, 'ask', 'done', now(), 1, case when n % 2 = 0 then 'hit' end, n, 10 * n)
from generate_series(1, 100) as n;

-- when a DBA asks for the usual figures
set local role plane_admin;
select results_eq(
    $$ select operation, count(*), count(cache), percentile_disc(0.95) within group (order by queue_wait_ms), avg(wall_ms)
       from plane.worker_runs where queue = 'worker_runs' and recorded_at > now() - interval '1 hour' group by operation $$,
    $$ values ('ask', 100::bigint, 50::bigint, 95::float8, 505::float8) $$,
    'they come from one query');
select is((select max(rss_bytes) from plane.worker_runs where queue = 'worker_runs'), null, 'what is not known is not shown as nothing');
reset role;
set local role plane_worker;
select throws_ok($$ select from plane.worker_runs $$, '42501', 'permission denied for view worker_runs', 'a worker does not read it');
reset role;

select * from finish();
rollback;
