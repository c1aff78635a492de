-- Nobody sweeps, nobody restarts anything: claims alone keep every kind of job moving.
begin;
\ir ../_clock.sql
select plan(10);

select pg_temp.freeze('2030-01-01 12:00+00');
select plane.create_queue('without_a_sweeper', p_lease => '1 minute', p_max_dequeues => 2, p_backoff => '5 minutes');

create function pg_temp.claim() returns text language sql as $$
    select operation || ' ' || attempt from plane.claim_one('without_a_sweeper', 'w')
$$;
create function pg_temp.status(p_operation text) returns text language sql as $$
    select status from plane.jobs where queue = 'without_a_sweeper' and operation = p_operation
$$;

-- given a job whose worker died, one that failed, one for later, and two of one serial key
select plane.enqueue('without_a_sweeper', 'crash');
select is(pg_temp.claim(), 'crash 1', 'a worker takes a job, and dies');
select job_id as failing from plane.enqueue('without_a_sweeper', 'fail') \gset
select is(pg_temp.claim(), 'fail 1', 'another job is taken');
select is(plane.fail_job(:failing, 1, '{"message": "no luck"}'), 'pending', 'it fails and will be tried again');
select plane.enqueue('without_a_sweeper', 'later', p_available_at => '2030-01-01 12:10+00');
select is(pg_temp.claim(), null, 'nothing is left to claim now');

-- when the lease has run out
select pg_temp.later('2 minutes');
select is(pg_temp.claim(), 'crash 2', 'a lapsed lease is claimed at once');

-- when the backoff is over
select pg_temp.later('4 minutes');
select is(pg_temp.claim(), 'fail 2', 'what failed is tried again after its pause');

-- when both have spent their budget
select pg_temp.later('5 minutes');
select is(pg_temp.claim(), 'later 1', 'what was scheduled is claimed when it is due');
select is(pg_temp.claim(), null, 'what has spent its budget is not claimed again');
select is(pg_temp.status('crash'), 'poison', 'it is poison');
select is(pg_temp.status('fail'), 'poison', 'and so is the other');

select * from finish();
rollback;
