-- Jobs of one serial key run one at a time, in the order of joining; others pass them by.
begin;
\ir ../_clock.sql
select plan(10);

select pg_temp.freeze('2030-01-01 12:00+00');
select plane.create_queue('serial_line', p_lease => '1 minute', p_backoff => '1 minute');
create function pg_temp.claim() returns text language sql as $$
    select operation || ' ' || attempt from plane.claim_one('serial_line', 'w')
$$;

-- given three jobs of one source, the last more urgent, and one of another
select job_id as first from plane.enqueue('serial_line', 'first', p_serial_key => 'ais') \gset
select job_id as second from plane.enqueue('serial_line', 'second', p_serial_key => 'ais') \gset
select plane.enqueue('serial_line', 'urgent', p_serial_key => 'ais', p_priority => -1);
select job_id as other from plane.enqueue('serial_line', 'other', p_serial_key => 'gps') \gset

-- then only heads of lines can be claimed
select results_eq(
    $$ select operation, status from plane.jobs where queue = 'serial_line' order by id $$,
    $$ values ('first', 'pending'), ('second', 'waiting'), ('urgent', 'waiting'), ('other', 'pending') $$,
    'whoever stands behind another waits');
select is(pg_temp.claim(), 'first 1', 'the head of the line is claimed');
select is(pg_temp.claim(), 'other 1', 'then the head of another line');
select is(pg_temp.claim(), null, 'and nothing else');
select plane.complete_job(:other, 1);

-- when the head fails
select plane.fail_job(:first, 1, '{"message": "again"}');
select is(pg_temp.claim(), null, 'a head in backoff keeps its place');
select pg_temp.later('2 minutes');
select is(pg_temp.claim(), 'first 2', 'and is tried again before those behind it');

-- when the head ends
select plane.complete_job(:first, 2);
select is(pg_temp.claim(), 'second 1', 'the next in the order of joining follows');

-- when its worker vanishes
select pg_temp.later('2 minutes');
select is(pg_temp.claim(), 'second 2', 'a lapsed head is claimed again');
select plane.complete_job(:second, 2);
select is(pg_temp.claim(), 'urgent 1', 'priority does not count within a line');
select is((select count(*) from plane.line where serial_key = 'ais'), 1::bigint, 'the line has one head');

select * from finish();
rollback;
