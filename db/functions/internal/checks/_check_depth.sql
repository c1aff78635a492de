-- _check_depth: refuses more work than a queue with a max_depth may hold. Approximate: callers at once do not see each other.
create or replace function plane._check_depth(
    p_queue plane.queue,
    p_more  integer default 1
)
    returns void
    language plpgsql
    volatile
as $$
begin
    perform from (
        select from plane.ready r where r.queue_id = p_queue.id
        union all
        select from plane.waiting w where w.queue_id = p_queue.id
        union all
        select from plane.due d where d.queue_id = p_queue.id
    ) as live
    offset greatest(p_queue.max_depth - p_more, 0)
    limit 1;
    if found or p_more > p_queue.max_depth then
        raise exception using
            errcode = 'PL429',
            message = 'the queue is full',
            detail = format('queue=%s max_depth=%s', p_queue.name, p_queue.max_depth),
            hint = 'Try again later, or raise max_depth with plane.create_queue.';
    end if;
end;
$$;

revoke all on function plane._check_depth(plane.queue, integer) from public;

comment on function plane._check_depth(plane.queue, integer) is
'Refuses jobs that would go beyond the queue''s max_depth.
Raises PL429 the queue is full.';
