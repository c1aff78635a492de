-- _range_is_worn: it pays to remove a range once half of it is over, and the rest is not over soon.
begin;
\ir ../../../_clock.sql
select pg_temp.freeze('2030-01-01 12:00+00');
\ir ../../../_alone.sql
select plan(13);

-- ended: so many jobs of a queue end now
create function pg_temp.ended(p_queue text, p_count integer) returns void language sql as $$
    select plane.enqueue(p_queue, 'send') from generate_series(1, p_count);
    select plane.complete_job(c.job_id, c.attempt) from plane.claim(p_queue, 'w1', p_count) c;
$$;
create function pg_temp.is_worn() returns boolean language sql as $$
    select plane._range_is_worn(0, 0, 10000000000)
$$;
select plane.create_queue('day', p_retention => '24 h', p_max_dequeues => 1), plane.create_queue('month', p_retention => '30 d') \g /dev/null

select is(pg_temp.is_worn(), true, 'a range with nothing in it may go');

-- given a range of jobs that end at two times of a day
select pg_temp.ended('day', 20) \g /dev/null
select pg_temp.later('3 h');
select pg_temp.ended('day', 20) \g /dev/null
select pg_temp.later('20 h 59 min');
select is(pg_temp.is_worn(), false, 'before its retention is over, it stays');
select pg_temp.later('1 min');
select is(pg_temp.is_worn(), false, 'when half is over and the other half is over soon, that is waited for');
select pg_temp.later('3 h');
select is(pg_temp.is_worn(), true, 'it goes when all is over');

-- given some that stay for long
select pg_temp.ended('month', 39) \g /dev/null
select is(pg_temp.is_worn(), true, 'what stays for long is not waited for, if it is less');
select pg_temp.ended('month', 2) \g /dev/null
select is(pg_temp.is_worn(), false, 'if it is more, the range stays');
delete from plane.job j using plane.queue q where q.name = 'month' and j.queue_id = q.id;
select is(pg_temp.is_worn(), true, 'a job is counted, not its outcome');

-- given live ones
select plane.enqueue('month', 'waits') from generate_series(1, 40) \g /dev/null
select is(pg_temp.is_worn(), true, 'live jobs are not waited for, up to a half');
select plane.enqueue('month', 'waits') \g /dev/null
select is(pg_temp.is_worn(), false, 'beyond that the range stays');
delete from plane.ready;
delete from plane.job j using plane.queue q where q.name = 'month' and j.queue_id = q.id;

-- given poison
select plane.enqueue('day', 'fails') from generate_series(1, 41) \g /dev/null
select plane.fail_job(c.job_id, c.attempt, '{}') from plane.claim('day', 'w1', 41) c \g /dev/null
select pg_temp.later('1000 days');
select is(pg_temp.is_worn(), false, 'poison is kept for ever');
select plane.create_queue('day', p_poison_retention => '1000 days');
select is(pg_temp.is_worn(), true, 'or for as long as the queue says');
select plane.create_queue('day', p_poison_retention => '1001 days');
select is(pg_temp.is_worn(), false, 'and no shorter');

-- when the queue is no longer there
delete from plane.queue where name = 'day';
select is(pg_temp.is_worn(), true, 'what a dropped queue has left is over at once');

\ir ../../../_together.sql
select * from finish();
rollback;
