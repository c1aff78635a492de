-- _worn_range: which range is removed next.
begin;
\ir ../../../_clock.sql
select pg_temp.freeze('2030-01-01 12:00+00');
\ir ../../../_alone.sql
select plan(6);
prepare worn as select * from plane._worn_range() where number is not null;

-- done: a job is enqueued and done
create function pg_temp.done() returns void language sql as $$
    select plane.enqueue('worn_range', 'send');
    select plane.complete_job(c.job_id, c.attempt) from plane.claim_one('worn_range', 'w1') c;
$$;
select plane.create_queue('worn_range', p_retention => '1 h');

-- given three ranges, with a job each that has ended, an hour apart
select pg_temp.done() \g /dev/null
select pg_temp.later('1 h');
select is_empty('worn', 'a range that ids are drawn in is not removed');
select plane._open_range() \g /dev/null
select results_eq('worn', $$ values (0, 0::bigint, 10000000000) $$, 'one that they have left is, when its jobs are over');
select pg_temp.done(), pg_temp.freeze('2030-01-01 12:59:59+00');
select is_empty('worn', 'and not before');
select pg_temp.freeze('2030-01-01 14:00+00');
select plane._open_range(), pg_temp.done() \g /dev/null
select results_eq('worn', $$ values (0, 0::bigint, 10000000000) $$, 'of several, it is the oldest');
insert into plane.outcome (job_id, attempt, max_dequeues, finished_at, replaced, status)
select 1000 + n, 1, 1, plane._now(), false, 'done' from generate_series(1, 2) as n;
insert into plane.job select j.* from plane.job k
cross join generate_series(1, 2) as n
cross join lateral jsonb_populate_record(k, jsonb_build_object('id', 1000 + n)) as j where k.id < 10000000000;
select results_eq('worn', $$ values (1, 10000000000, 20000000000) $$, 'one that must stay is passed over');
select pg_temp.later('1 h');
select results_eq('worn', $$ values (0, 0::bigint, 10000000000) $$, 'until it may go');

\ir ../../../_together.sql
select * from finish();
rollback;
