-- pause_queue: the queue accepts and does not hand out.
begin;
\ir ../../_clock.sql
select plan(15);

-- given a queue with a job that is held, one that is scheduled, and one that is ready
select pg_temp.freeze('2030-01-01 12:00+00');
select plane.create_queue('pause_queue', p_lease => '1 min', p_max_dequeues => 9), plane.create_queue('pause_queue-other');
select job_id as held from plane.enqueue('pause_queue', 'held') \gset
select plane.claim_one('pause_queue', 'w1') \g /dev/null
select job_id as scheduled from plane.enqueue('pause_queue', 'scheduled', p_available_at => plane._now() + interval '10 s') \gset
select job_id as ready from plane.enqueue('pause_queue', 'ready') \gset

-- when it is paused
select lives_ok($$ select plane.pause_queue('pause_queue') $$, 'a queue can be paused');
select is(
    (select paused_at from plane.queues where queue = 'pause_queue'), '2030-01-01 12:00+00', 'and shows since when');

-- then it hands out nothing
select is_empty($$ select plane.claim_one('pause_queue', 'w1') $$, 'a paused queue hands out nothing');
select is_empty($$ select plane.claim('pause_queue', 'w1', 10) $$, 'to those who ask for many neither');
select is((select status from plane.jobs where id = :ready), 'pending', 'its jobs stay pending');
select plane.enqueue('pause_queue-other', 'send') \g /dev/null
select isnt_empty($$ select plane.claim_one('pause_queue-other', 'w1') $$, 'other queues hand out as ever');

-- then it accepts, and what is held goes on
select lives_ok($$ select plane.enqueue('pause_queue', 'late') $$, 'it accepts jobs');
select results_eq(
    format('select state from plane.renew_leases(''w1'', array[%s]::bigint[], array[1])', :held), array['held'],
    'what is held can be renewed');

-- when time goes by
select pg_temp.later('2 min');
select plane.pause_queue('pause_queue');
select is(
    (select paused_at from plane.queues where queue = 'pause_queue'), '2030-01-01 12:00+00', 'pausing again changes nothing');
select is_empty($$ select plane.claim_one('pause_queue', 'w2') $$, 'whatever becomes claimable is not handed out');
select is((select status from plane.jobs where id = :held), 'pending', 'but a claim does what time does: a lapsed lease is free');
select is(
    (select count(*) from plane.ready r where r.job_id in (:held, :scheduled)), 2::bigint, 'and a scheduled job ready');

-- when it is resumed
select plane.resume_queue('pause_queue');
select results_eq(
    $$ select operation from plane.claim('pause_queue', 'w1', 10) $$,
    $$ values ('held'), ('ready'), ('late'), ('scheduled') $$, 'all of them are handed out, in their order');

-- when there is no such queue
select throws_ok($$ select plane.pause_queue('pause_queue-none') $$, 'PL404', 'no such queue', 'an unknown queue is refused');
select throws_ok($$ select plane.pause_queue(null) $$, 'PL404', 'no such queue', 'so is NULL');

select * from finish();
rollback;
