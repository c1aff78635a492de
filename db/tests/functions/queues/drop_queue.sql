-- drop_queue: a queue goes with all that it has finished.
begin;
\ir ../../_clock.sql
select plan(19);

create function pg_temp.refuses(p_what text) returns text language sql as $$
    select throws_ok('select plane.drop_queue(''drop_queue'')', 'PL409', 'the queue has live jobs', p_what)
$$;

-- given a queue whose jobs are done, poison and cancelled, and a neighbour
select pg_temp.freeze('2030-01-01 12:00+00');
select plane.create_queue('drop_queue', p_max_dequeues => 1), plane.create_queue('drop_queue-other'),
    plane.register_worker('drop_queue-w', 'drop_queue'), plane.register_manifest('drop_queue', '[{"name": "ask", "version": 1}]') \g /dev/null
select id as queue_id from plane.queue where name = 'drop_queue' \gset
select job_id as done from plane.enqueue('drop_queue', 'done', p_dedupe_key => 'k') \gset
select plane.claim_one('drop_queue', 'w1') \g /dev/null
select plane.report_progress(:done, 1, 1, 1, null), plane.complete_job(:done, 1, '1') \g /dev/null
select job_id as poison from plane.enqueue('drop_queue', 'poison', p_serial_key => 's') \gset
select plane.claim_one('drop_queue', 'w1'), plane.fail_job(:poison, 1, '{}') \g /dev/null
select job_id as neighbour from plane.enqueue('drop_queue-other', 'send') \gset
select plane.claim_one('drop_queue-other', 'w1'), plane.complete_job(:neighbour, 1, '1') \g /dev/null
insert into plane.waiter values (:done, 'edge', plane._now() + interval '1 min');

-- when it has a live job, wherever that is
select job_id as scheduled from plane.enqueue('drop_queue', 'later', p_available_at => plane._now() + interval '1 h') \gset
select pg_temp.refuses('a queue with a scheduled job stays');
select plane.request_cancel(:scheduled, 'ann') \g /dev/null
select job_id as ready from plane.enqueue('drop_queue', 'now', p_serial_key => 's') \gset
select pg_temp.refuses('a queue with a ready job stays');
select plane.claim_one('drop_queue', 'w1') \g /dev/null
select pg_temp.refuses('a queue with a held job stays');
select job_id as behind from plane.enqueue('drop_queue', 'behind', p_serial_key => 's') \gset
select plane.complete_job(:ready, 1) \g /dev/null
with moved as (delete from plane.ready where job_id = :behind returning *)
insert into plane.waiting select queue_id, 's', pos, job_id, 0, max_dequeues, dequeue_count, fresh from moved;
select pg_temp.refuses('a queue with a waiting job stays');
select is((select status from plane.jobs where id = :done), 'done', 'and nothing of it has gone');
select is(plane.request_cancel(:behind, 'ann'), 'cancelled', 'its last live job ends');

-- when it has none
select lives_ok($$ select plane.drop_queue('drop_queue') $$, 'a queue without live jobs can be dropped');
select is_empty($$ select from plane.queues where queue = 'drop_queue' $$, 'the queue is gone');
select is_empty($$ select from plane.workers where queue = 'drop_queue' $$, 'and so are its workers');
select is_empty(format('select from plane.operation where queue_id = %s', :queue_id), 'its operations');
select is_empty(format('select from plane.job where queue_id = %s', :queue_id), 'its jobs');
select is_empty(format('select from plane.outcome where job_id in (%s, %s, %s)', :done, :poison, :ready), 'their outcomes');
select is_empty(format('select from plane.attempts where job_id in (%s, %s)', :done, :poison), 'their attempts');
select is_empty(format('select from plane.progress where job_id = %s', :done), 'their progress');
select is_empty(format('select from plane.waiter where job_id = %s', :done), 'who waited for them');
select is((select status from plane.jobs where id = :neighbour), 'done', 'jobs of other queues stay');

-- when it is created anew
select plane.create_queue('drop_queue');
select is((select coalesced from plane.enqueue('drop_queue', 'done', p_dedupe_key => 'k')), false, 'a new queue of that name begins with nothing');

-- when there is no such queue
select throws_ok($$ select plane.drop_queue('drop_queue-none') $$, 'PL404', 'no such queue', 'an unknown queue is refused');
select throws_ok($$ select plane.drop_queue(null) $$, 'PL404', 'no such queue', 'so is NULL');

select * from finish();
rollback;
