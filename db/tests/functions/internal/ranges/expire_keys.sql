-- _expire_keys: a dedupe key does not outlast its job.
begin;
\ir ../../../_clock.sql
select pg_temp.freeze('2030-01-01 12:00+00');
select plan(3);

-- given keys of a live job, of one that has ended and of one that is gone, and one in another range
select plane.create_queue('expire_keys');
select job_id as live from plane.enqueue('expire_keys', 'send', p_dedupe_key => 'live') \gset
select job_id as ended from plane.enqueue('expire_keys', 'send') \gset
select plane.request_cancel(:ended, 'ann') \g /dev/null
insert into plane.live_key (key, job_id)
values (gen_random_uuid(), :ended), (gen_random_uuid(), 9999999999), (gen_random_uuid(), 10000000000);
prepare keys as select job_id from plane.live_key where job_id in (:live, :ended, 9999999999, 10000000000) order by 1;

-- when they are removed
select is(plane._expire_keys(least(:live, 0), 10000000000), true, 'nobody has any of them locked');
select results_eq('keys', array[:live, 10000000000]::bigint[], 'those of jobs that have ended or are gone are no more');
select is(plane._expire_keys(10000000000, 20000000000), true, 'in the next range as well');

select * from finish();
rollback;
