-- _ranges: the ranges of ids are what the catalog says of the partitions of jobs.
begin;
\ir ../../../_clock.sql
select pg_temp.freeze('2030-01-01 12:00+00');
\ir ../../../_alone.sql
select plan(4);
prepare ranges as select * from plane._ranges();

select results_eq(
    'ranges', $$ values (0, 0::bigint, 10000000000), (1, 10000000000, null) $$,
    'a new ledger has a range for ids, and an open-ended one');
select plane._open_range() \g /dev/null
select results_eq(
    'ranges', $$ values (0, 0::bigint, 10000000000), (1, 10000000000, 20000000000), (2, 20000000000, null) $$,
    'another one that is opened is the last');

-- when a later number has the first ids, as where what stays took the place of a range
alter table plane.job detach partition plane.job_0;
create table plane.job_12 partition of plane.job for values from (0) to (10000000000);
select results_eq(
    'ranges', $$ values (12, 0::bigint, 10000000000), (1, 10000000000, 20000000000), (2, 20000000000, null) $$,
    'they come in the order of their ids, and a table that is no partition is none of them');
drop table plane.job_1;
select results_eq(
    'ranges', $$ values (12, 0::bigint, 10000000000), (2, 20000000000, null) $$, 'one that was dropped leaves a gap');

\ir ../../../_together.sql
select * from finish();
rollback;
