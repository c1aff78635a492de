-- _staying: what may not leave a range.
begin;
\ir ../../../_clock.sql
select pg_temp.freeze('2030-01-01 12:00+00');
\ir ../../../_alone.sql
select plan(7);

create function pg_temp.staying() returns setof text language sql as $$
    select j.operation from unnest(plane._staying(0, 10000000000)) as s (id) join plane.job j using (id) order by 1
$$;

-- given jobs in every place
select plane.create_queue('staying', p_retention => '1 h', p_max_dequeues => 1, p_lease => '7 d');
select plane.enqueue('staying', 'done'), plane.enqueue('staying', 'poison'), plane.enqueue('staying', 'held'),
    plane.enqueue('staying', 'head', p_serial_key => 'line') \g /dev/null
select job_id, attempt, operation from plane.claim('staying', 'w1', 10) \g /dev/null
select plane.complete_job(l.job_id, l.attempt) from plane.lease l join plane.job j on j.id = l.job_id where j.operation = 'done' \g /dev/null
select plane.fail_job(l.job_id, l.attempt, '{}') from plane.lease l join plane.job j on j.id = l.job_id where j.operation = 'poison' \g /dev/null
select plane.enqueue('staying', 'ready'), plane.enqueue('staying', 'waiting', p_serial_key => 'line'),
    plane.enqueue('staying', 'due', p_available_at => '2040-01-01') \g /dev/null
select plane.request_cancel((plane.enqueue('staying', 'cancelled')).job_id, 'ann') \g /dev/null

-- then
select pg_temp.later('59 min 59 s');
select results_eq(
    'select pg_temp.staying()', array['cancelled', 'done', 'due', 'head', 'held', 'poison', 'ready', 'waiting'],
    'within the retention all of them stay');
select pg_temp.later('1 s');
select results_eq(
    'select pg_temp.staying()', array['due', 'head', 'held', 'poison', 'ready', 'waiting'],
    'then live jobs and poison');
select plane.create_queue('staying', p_poison_retention => '1 min');
select results_eq(
    $$ select s from pg_temp.staying() s where s <> 'poison' $$, array['due', 'head', 'held', 'ready', 'waiting'],
    'poison that may leave is removed beforehand');
select is((select count(*) from pg_temp.staying() s where s = 'poison'), 1::bigint, 'so one that is still here is being retried');
select plane.create_queue('staying', p_retention => '2 h');
select is((select count(*) from pg_temp.staying()), 8::bigint, 'a retention that is raised rules at once');
select plane.create_queue('staying', p_retention => '0');
select is((select count(*) from pg_temp.staying()), 6::bigint, 'and so does none');
select is(plane._staying(10000000000, 20000000000), '{}', 'other ranges are not asked');

\ir ../../../_together.sql
select * from finish();
rollback;
