-- queues: every queue with its settings.
begin;
select plan(4);

select columns_are('plane', 'queues', array['queue', 'lease', 'max_dequeues', 'backoff', 'backoff_factor', 'backoff_cap', 'retention',
    'poison_retention', 'blob_retention', 'max_depth', 'notify', 'paused_at', 'created_at']);

-- given two queues
select plane.create_queue('queues-a', '20 s', 3, '1 s', 2.5, '30 min', '7 days', 100, 'never', '2 h', '90 d'), plane.create_queue('queues-b') \g /dev/null
select results_eq(
    $$ select queue, lease, max_dequeues, backoff, backoff_factor, backoff_cap, retention, max_depth, notify, blob_retention,
           poison_retention
       from plane.queues where queue like 'queues-%' order by queue $$,
    $$ values ('queues-a', interval '20 s', 3, interval '1 s', 2.5, interval '30 min', interval '7 days', 100, 'never', interval '2 h', interval '90 days'),
        ('queues-b', '120 s', 5, '30 s', 1, '1 h', '24 h', null, 'always', '24 h', null) $$,
    'each queue is shown with its settings');

-- when a DBA reads it
set local role plane_admin;
select is((select count(*) from plane.queues where queue like 'queues-%'), 2::bigint, 'an admin reads it');
reset role;
set local role plane_producer;
select throws_ok($$ select from plane.queues $$, '42501', 'permission denied for view queues', 'a producer does not');
reset role;

select * from finish();
rollback;
