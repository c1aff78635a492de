-- _forget_runs: telemetry is kept for a week, and goes a day at once.
begin;
\ir ../../../_clock.sql
select plan(9);

create function pg_temp.days() returns setof text language sql as $$
    select to_char(recorded_at at time zone 'UTC', 'MM-DD') from plane.worker_runs where queue = 'forget_runs' order by recorded_at
$$;
create function pg_temp.record() returns void language sql as $$
    select plane.record_run('forget_runs', 'w1', 1, 1, 'ask', 'done', plane._now())
$$;

-- given a run at the end of each of nine days, and nobody who tidies
select pg_temp.freeze('2030-01-01 23:59:59+00');
select plane.create_queue('forget_runs');
-- other tests that read telemetry take turns with this one
lock table plane.run;
select pg_temp.record(), pg_temp.later('1 day') from generate_series(1, 8) \g /dev/null
select pg_temp.record();
select is((select count(distinct r.tableoid) from plane.run r join plane.queue q on q.id = r.queue_id where q.name = 'forget_runs'), 9::bigint,
    'each day has a place of its own');

-- when somebody tidies on the last of them
select is(plane._forget_runs(), true, 'a day goes');
select results_eq(
    'select * from pg_temp.days()', array['01-02', '01-03', '01-04', '01-05', '01-06', '01-07', '01-08', '01-09'],
    'what is older than a week goes, what is not stays');
select is(plane._forget_runs(), false, 'there is no more to do on that day');
select is((select count(*) from pg_temp.days()), 8::bigint, 'and nothing else goes');
select pg_temp.later('1 s');
select plane._forget_runs() \g /dev/null
select results_eq(
    'select * from pg_temp.days()', array['01-03', '01-04', '01-05', '01-06', '01-07', '01-08', '01-09'],
    'a second later the next day goes, seven days after its end');

-- when nobody has tidied for long
select pg_temp.later('9 days');
select lives_ok('select pg_temp.record()', 'a run is recorded, whatever is in its place');
select is((select count(*) from pg_temp.days()), 8::bigint, 'beside what is there');

-- when a queue goes
delete from plane.queue where name = 'forget_runs';
select is_empty('select * from pg_temp.days()', 'its telemetry is seen no more');

select * from finish();
rollback;
