-- _check_not_dropped: the queue has not been dropped since it was read. An enqueue reads it after plane.ready was locked, where
-- plane.drop_queue waits; only a snapshot older than that lock may show a queue that is gone, so there the row itself is
-- locked, which a drop makes fail.
create or replace function plane._check_not_dropped(
    p_queue plane.queue
)
    returns void
    language plpgsql
    volatile
as $$
begin
    if not plane._sees_past() then
        perform from plane.queue q where q.id = p_queue.id;
    else
        perform from plane.queue q where q.id = p_queue.id for key share;
    end if;
    if not found then
        raise exception using
            errcode = 'PL404',
            message = 'no such queue',
            detail = format('queue=%s', p_queue.name),
            hint = 'It has just been dropped with plane.drop_queue.';
    end if;
end;
$$;

revoke all on function plane._check_not_dropped(plane.queue) from public;

comment on function plane._check_not_dropped(plane.queue) is
'Refuses a queue that has been dropped since it was read.
Raises PL404 no such queue.';
