-- resume_queue: the queue hands out again, and its workers are told.
create or replace function plane.resume_queue(
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
    update plane.queue q set paused_at = null where q.id = v_queue.id and (q.paused_at is not null or plane._sees_past());
    if found then
        perform plane._tell_ready(v_queue.id);
    end if;
end;
$$;

revoke all on function plane.resume_queue(text) from public;
grant execute on function plane.resume_queue(text) to plane_admin;

comment on function plane.resume_queue(text) is
'Hand out jobs of a paused queue again, and wake its workers (NOTIFY plane_ready); a queue that is not paused stays as
it is.
Raises PL404 no such queue.
Role: plane_admin.';
