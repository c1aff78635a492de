-- _range_step: one thing at a time, and the most pressing one first.
begin;
\ir ../../../_clock.sql
select pg_temp.freeze('2030-01-01 12:00+00');
\ir ../../../_alone.sql
select plan(7);
prepare step as select * from plane._range_step() where step is not null;

-- given a job that ends, and one that stays
select plane.create_queue('range_step', p_retention => '1 h');
select plane.enqueue('range_step', 'done'), plane.claim_one('range_step', 'w1') \g /dev/null
select plane.complete_job(job_id, attempt) from plane.lease \g /dev/null
select plane.enqueue('range_step', 'stays', p_available_at => '2040-01-01') \g /dev/null
select is_empty('step', 'a new range needs nothing');

-- then
select pg_temp.later('2 h 1 ms');
select results_eq('step', $$ values ('opened', 'ids from 10000000000 on') $$, 'a range that is full is followed by another');
select plane.enqueue('range_step', 'next') \g /dev/null
select results_eq(
    'step', $$ values ('copied', '1 jobs that stay of ids 0 to 9999999999') $$, 'what stays of a worn one is copied');
select results_eq(
    'step', $$ values ('left', 'this transaction may not see yet what is to stay') $$, 'and waits until everybody sees it');
savepoint full_again;
select pg_temp.later('2 h 1 ms');
select results_eq('step', $$ values ('opened', 'ids from 20000000000 on') $$, 'a range that is full does not wait for that');
rollback to full_again;
-- a sequence does not roll back
select setval('plane.job_id_seq', max(id)) from plane.job \g /dev/null

-- when everybody sees it
create or replace function plane._older_snapshot(p_xid xid) returns text language sql volatile as $$ select null::text $$;
select results_eq(
    'step', $$ values ('removed', 'ids 0 to 9999999999 but for 1 jobs that stay') $$, 'then it takes its place');
select is_empty('step', 'after which nothing is to be done');

\ir ../../../_together.sql
select * from finish();
rollback;
