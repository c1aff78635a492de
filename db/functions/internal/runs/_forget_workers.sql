-- _forget_workers: who was not seen for a day is gone; the operations of a queue go with the last of its workers. Locks: the
-- queue, which registering locks too, so that nobody registers in between; a queue that is in use is left to the next call.
create or replace function plane._forget_workers()
    returns integer
    language plpgsql
    volatile
as $$
declare
    v_since   timestamptz := plane._now() - interval '1 day';
    v_queues  integer[];
    v_gone    integer;
begin
    v_queues := array(
        select q.id
        from plane.queue q
        where exists (select from plane.worker w where w.queue_id = q.id and w.seen_at < v_since)
        for update skip locked);
    delete from plane.worker w
    where w.ctid = any (array(
        select f.ctid
        from plane.worker f
        where f.queue_id = any (v_queues) and f.seen_at < v_since
        for update skip locked));
    get diagnostics v_gone = row_count;
    delete from plane.operation o
    where o.queue_id = any (v_queues) and not exists (select from plane.worker w where w.queue_id = o.queue_id);
    return v_gone;
end;
$$;

revoke all on function plane._forget_workers() from public;

comment on function plane._forget_workers() is
'Removes workers that were not seen for a day, and the operations of queues that have none left; returns how many workers.';
