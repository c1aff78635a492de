-- _position: how many jobs a claim would take first, this one included.
begin;
\ir ../../../_clock.sql
select plan(15);

create function pg_temp.add(p_operation text, p_priority integer = 0, p_key text = null) returns bigint language sql as $$
    select job_id from plane.enqueue('position', p_operation, p_priority => p_priority, p_dedupe_key => p_key)
$$;
create function pg_temp.is_at(p_job_id bigint, p_position integer, p_what text) returns text language sql as $$
    select is((select plane._position(j) from plane.job j where j.id = p_job_id), p_position, p_what)
$$;

-- given ready jobs of two priorities
select pg_temp.freeze('2030-01-01 12:00+00');
select plane.create_queue('position', p_lease => '1 min', p_backoff => '30 s');
select pg_temp.add('a') as a, pg_temp.add('b') as b, pg_temp.add('patient', 5) as patient, pg_temp.add('urgent', -5) as urgent,
    pg_temp.add('c', 0, 'c') as c \gset

-- then each has its place in the order of claims
select pg_temp.is_at(:urgent, 1, 'the most urgent is the first');
select pg_temp.is_at(:a, 2, 'then the oldest of the next priority');
select pg_temp.is_at(:c, 4, 'then the others by age');
select pg_temp.is_at(:patient, 5, 'and the least urgent is the last');

-- when jobs are moved
select pg_temp.add('c', -9, 'c') \g /dev/null
select pg_temp.is_at(:c, 1, 'a job that was made urgent moves up');
select pg_temp.is_at(:a, 3, 'and the others down');
select plane.claim('position', 'w1', 3), plane.release_job(:a, 1) \g /dev/null
select pg_temp.is_at(:a, 1, 'a job that was released is before fresh work');
select pg_temp.is_at(:b, 2, 'which is behind it');

-- when a job is not ready
select pg_temp.is_at(:c, null, 'a job that is held has no place');
select plane.complete_job(:c, 1) \g /dev/null
select pg_temp.is_at(:c, null, 'nor has one that has ended');
select plane.fail_job(:urgent, 1, '{}') \g /dev/null
select pg_temp.is_at(:urgent, null, 'nor has one in backoff');
select pg_temp.later('30 s');
select plane.sweep() \g /dev/null
select pg_temp.is_at(:urgent, 1, 'until its pause is over');

-- when there are very many
select count(*) from generate_series(1, 1200) as n, plane.enqueue('position', 'many ' || n) \g /dev/null
select min(id) as first, max(id) as last, (array_agg(id order by id))[997] as near
from plane.jobs where queue = 'position' and operation like 'many %' \gset
select pg_temp.is_at(:first, 4, 'the count begins with the first');
select pg_temp.is_at(:near, 1000, 'goes on to 1000');
select pg_temp.is_at(:last, 1000, 'and ends there');

select * from finish();
rollback;
