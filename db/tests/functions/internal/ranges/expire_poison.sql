-- _expire_poison: poison leaves where its queue says so.
begin;
\ir ../../../_clock.sql
select pg_temp.freeze('2030-01-01 12:00+00');
select plan(5);

-- given poison of two queues, and a job that is done
select plane.create_queue('expire_poison', p_max_dequeues => 1), plane.create_queue('expire_poison-kept', p_max_dequeues => 1) \g /dev/null
select job_id as poison from plane.enqueue('expire_poison', 'send') \gset
select job_id as kept from plane.enqueue('expire_poison-kept', 'send') \gset
select plane.fail_job(job_id, attempt, '{}') from plane.claim_one('expire_poison', 'w1') \g /dev/null
select plane.fail_job(job_id, attempt, '{}') from plane.claim_one('expire_poison-kept', 'w1') \g /dev/null
select job_id as done from plane.enqueue('expire_poison', 'send') \gset
select plane.complete_job(job_id, attempt) from plane.claim_one('expire_poison', 'w1') \g /dev/null
create function pg_temp.expire() returns void language sql as $$
    select plane._expire_poison(r.lower, coalesce(r.upper, 9000000000000000000)) from plane._ranges() r
$$;
prepare seen as select id from plane.jobs where queue like 'expire_poison%' order by id;

-- then
select pg_temp.later('365 days');
select pg_temp.expire() \g /dev/null
select results_eq('seen', array[:poison, :kept, :done]::bigint[], 'poison is kept for ever');
select plane.create_queue('expire_poison', p_poison_retention => '366 days');
select pg_temp.expire() \g /dev/null
select results_eq('seen', array[:poison, :kept, :done]::bigint[], 'or as long as its queue says');
select pg_temp.later('1 day');
select pg_temp.expire() \g /dev/null
select results_eq('seen', array[:kept, :done]::bigint[], 'then it leaves, and no other');
select is((select count(*) from plane.attempt where job_id = :poison), 0::bigint, 'its attempts leave with it');
select is((select count(*) from plane.outcome where job_id = :poison), 0::bigint, 'and its outcome');

select * from finish();
rollback;
