-- _range_copied: the catalog knows what was copied and has not taken its place yet.
begin;
\ir ../../../_clock.sql
select pg_temp.freeze('2030-01-01 12:00+00');
\ir ../../../_alone.sql
select plan(6);
prepare copied as select number, lower, upper, xid = pg_current_xact_id()::xid from plane._range_copied();

-- given a job that stays
select plane.create_queue('range_copied');
select job_id from plane.enqueue('range_copied', 'stays') \gset
select plane._open_range() \g /dev/null
select is_empty('copied', 'as long as nothing is copied, there is no row');

-- when it is copied
select plane._copy_range(0, 10000000000, array[:job_id]) \g /dev/null
select results_eq(
    'copied', $$ values (3, 0::bigint, 10000000000, true) $$, 'a copy has a number, its bounds and who made it');
select is((select count(*) from plane._ranges()), 3::bigint, 'and is no range yet');

-- when it is changed, here by a savepoint, which has an id of its own
select plane.request_cancel(:job_id, 'ann') \g /dev/null
savepoint changing;
select plane._refresh_range(3) \g /dev/null
release changing;
select results_eq('copied', $$ values (3, 0::bigint, 10000000000, false) $$, 'a copy that is changed has another maker');

-- when it takes its place
select is((plane._swap_range(3, 0, 10000000000)).step, 'removed', 'when it is put into its place');
select is_empty('copied', 'it is no copy any more');

\ir ../../../_together.sql
select * from finish();
rollback;
