-- _hand_on_line: the head of a serial line has ended; the next of the line becomes ready.
-- Whoever joins holds FOR KEY SHARE on the head, and the next may be locked by one who cancels it or pulls it
-- forward. This never waits for them: it leaves a note instead. So it does where an older snapshot shows nobody behind the
-- head: somebody may have joined since.
create or replace function plane._hand_on_line(
    p_queue_id   integer,
    p_serial_key text,
    p_job_id     bigint
)
    returns boolean
    language plpgsql
    volatile
as $$
declare
    v_pos  bigint;
    v_next plane.waiting;
begin
    perform from plane.line l
    where l.queue_id = p_queue_id and l.serial_key = p_serial_key and l.job_id = p_job_id
    for update skip locked;
    if not found then
        insert into plane.stalled_line (queue_id, serial_key, job_id)
        select l.queue_id, l.serial_key, l.job_id
        from plane.line l
        where l.queue_id = p_queue_id and l.serial_key = p_serial_key and l.job_id = p_job_id;
        if found then
            perform plane._tell_ready(p_queue_id);
        end if;
        return not found;
    end if;

    select f.pos into v_pos
    from plane.waiting f
    where f.queue_id = p_queue_id and f.serial_key = p_serial_key
    order by f.pos
    limit 1;
    if not found and not plane._sees_past() then
        delete from plane.line l where l.queue_id = p_queue_id and l.serial_key = p_serial_key;
        return true;
    end if;
    delete from plane.waiting w
    where w.ctid = (
        select f.ctid
        from plane.waiting f
        where f.queue_id = p_queue_id and f.serial_key = p_serial_key and f.pos = v_pos
        for update skip locked)
    returning w.* into v_next;
    if not found then
        insert into plane.stalled_line (queue_id, serial_key, job_id) values (p_queue_id, p_serial_key, p_job_id);
        perform plane._tell_ready(p_queue_id);
        return false;
    end if;

    update plane.line l
    set job_id = v_next.job_id
    where l.queue_id = p_queue_id and l.serial_key = p_serial_key;
    perform plane._make_ready(p_queue_id, v_next.job_id, v_next.priority, v_next.dequeue_count > 0,
        v_next.dequeue_count, v_next.max_dequeues, v_next.fresh);
    perform plane._tell_ready(p_queue_id);
    return true;
end;
$$;

revoke all on function plane._hand_on_line(integer, text, bigint) from public;

comment on function plane._hand_on_line(integer, text, bigint) is
'Makes the next job of a serial line ready after its head has ended; false when that had to be left for later.';
