-- resume_queue: the queue hands out again.
begin;
select plan(6);

-- given a paused queue with a job
select plane.create_queue('resume_queue');
select job_id from plane.enqueue('resume_queue', 'send') \gset
select plane.pause_queue('resume_queue');

-- when it is resumed
select lives_ok($$ select plane.resume_queue('resume_queue') $$, 'a paused queue can be resumed');
select is((select paused_at from plane.queues where queue = 'resume_queue'), null, 'it is not paused any more');
select results_eq(
    $$ select job_id from plane.claim_one('resume_queue', 'w1') $$, array[:job_id]::bigint[], 'and hands out');

-- when it is not paused
select lives_ok($$ select plane.resume_queue('resume_queue') $$, 'resuming again changes nothing');

-- when there is no such queue
select throws_ok($$ select plane.resume_queue('resume_queue-none') $$, 'PL404', 'no such queue', 'an unknown queue is refused');
select throws_ok($$ select plane.resume_queue(null) $$, 'PL404', 'no such queue', 'so is NULL');

select * from finish();
rollback;
