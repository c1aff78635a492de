-- drop_queue: an older snapshot would not see which jobs have come since.
begin isolation level repeatable read;
select plan(2);

-- given an idle queue
select plane.create_queue('gone');

-- when it is dropped by a snapshot that may be older than the latest job
select throws_ok(
    $$ select plane.drop_queue('gone') $$,
    'PL409', 'a queue is dropped under READ COMMITTED only', 'the drop is refused');

-- then
select is((select count(*) from plane.queues where queue = 'gone'), 1::bigint, 'the queue is still there');

select * from finish();
rollback;
