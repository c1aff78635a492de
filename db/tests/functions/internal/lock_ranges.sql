-- _lock_ranges: nobody uses a partition from then on. Who has the queues locked has no other test beside.
begin;
lock table plane.queue in access exclusive mode;
select plan(2);

select plane._lock_ranges();
select results_eq(
    $$ select l.relation::regclass::text from pg_locks l
       join pg_class c on c.oid = l.relation and c.relkind = 'p'
       where l.pid = pg_backend_pid() and l.mode = 'AccessExclusiveLock' order by 1 $$,
    array['plane.attempt', 'plane.job', 'plane.outcome'], 'the partitioned tables are locked against everybody');
select is(current_setting('lock_timeout'), '50ms', 'for 50 ms each it would have waited');

select * from finish();
rollback;
