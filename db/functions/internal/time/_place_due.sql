-- _place_due: a due row's time has come. A scheduled job joins its serial line only now, at its end;
-- one that paused after a failure has kept its place there and goes before work that never was claimed.
-- This runs within claims, which wait for no enqueuer: a line that somebody is opening or handing on is tried again a
-- second later. So two sweeps that meet in several lines cannot deadlock either.
create or replace function plane._place_due(
    p_due plane.due
)
    returns void
    language plpgsql
    volatile
as $$
declare
    v_serial_key text := (select j.serial_key from plane.job j where j.id = p_due.job_id and p_due.reason = 'scheduled');
begin
    if v_serial_key is null then
        perform plane._make_ready(p_due.queue_id, p_due.job_id, p_due.priority, p_due.dequeue_count > 0,
            p_due.dequeue_count, p_due.max_dequeues, p_due.fresh);
        return;
    end if;
    begin
        perform plane._join_line_at_once(p_due.queue_id, v_serial_key, p_due.job_id, p_due.priority,
            p_due.dequeue_count, p_due.max_dequeues, p_due.fresh);
    exception
        when lock_not_available then
            p_due.available_at := plane._now() + interval '1 second';
            insert into plane.due select p_due.*;
    end;
end;
$$;

revoke all on function plane._place_due(plane.due) from public;

comment on function plane._place_due(plane.due) is
'Makes a job ready whose due row has just been removed, or has it join its serial line, a second later if need be.';
