-- _check_idle: a queue with live jobs cannot go.
create or replace function plane._check_idle(
    p_queue plane.queue
)
    returns void
    language plpgsql
    volatile
as $$
begin
    if exists (select from plane.ready r where r.queue_id = p_queue.id)
        or exists (select from plane.due d where d.queue_id = p_queue.id)
        or exists (select from plane.waiting w where w.queue_id = p_queue.id)
        or exists (select from plane.lease l where l.queue_id = p_queue.id)
    then
        raise exception using
            errcode = 'PL409',
            message = 'the queue has live jobs',
            detail = format('queue=%s', p_queue.name),
            hint = 'Let workers finish them, or cancel them with plane.request_cancel; plane.jobs lists them.';
    end if;
end;
$$;

revoke all on function plane._check_idle(plane.queue) from public;

comment on function plane._check_idle(plane.queue) is
'Refuses a queue that has live jobs.
Raises PL409 the queue has live jobs.';
