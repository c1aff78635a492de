-- _queue_named: the row of a queue, or a clear error.
create or replace function plane._queue_named(
    p_queue text
)
    returns plane.queue
    language plpgsql
    stable
as $$
declare
    v_queue plane.queue;
begin
    select q.* into v_queue from plane.queue q where q.name = p_queue;
    if not found then
        perform plane._refuse_queue(p_queue);
    end if;
    return v_queue;
end;
$$;

revoke all on function plane._queue_named(text) from public;

comment on function plane._queue_named(text) is
'The row of the queue of this name.
Raises PL404 no such queue.';
