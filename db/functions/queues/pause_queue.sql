-- pause_queue: the queue accepts and does not hand out. What is held goes on, and so does what time does.
create or replace function plane.pause_queue(
    p_queue text
)
    returns void
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $$
declare
    v_queue plane.queue := plane._queue_named(p_queue);
begin
    update plane.queue q set paused_at = plane._now() where q.id = v_queue.id and q.paused_at is null;
end;
$$;

revoke all on function plane.pause_queue(text) from public;
grant execute on function plane.pause_queue(text) to plane_admin;

comment on function plane.pause_queue(text) is
'Hand out no more jobs of a queue, until plane.resume_queue. It still accepts jobs, and held ones are settled as ever.
Pausing again changes nothing.
Raises PL404 no such queue.
Role: plane_admin.';
