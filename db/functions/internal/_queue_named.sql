-- _queue_named: the row of a queue, or a clear error.
create or replace function plane._queue_named(
    p_queue text
)
    returns plane.queue
    language plpgsql
    stable
    set search_path = pg_catalog, pg_temp
as $$
declare
    v_queue plane.queue;
begin
    select q.* into v_queue from plane.queue q where q.name = p_queue;
    if not found then
        raise exception using
            errcode = 'PL404',
            message = 'no such queue',
            detail = format('queue=%s', coalesce(left(p_queue, 100), 'NULL')),
            hint = 'Create it with plane.create_queue, or correct the name.';
    end if;
    return v_queue;
end;
$$;

revoke all on function plane._queue_named(text) from public;

comment on function plane._queue_named(text) is
'The row of the queue of this name.
Raises PL404 no such queue.';
