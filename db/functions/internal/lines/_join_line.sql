-- _join_line: a due job takes the head of its serial line, or a place behind it.
create or replace function plane._join_line(
    p_queue_id      integer,
    p_serial_key    text,
    p_job_id        bigint,
    p_priority      integer,
    p_dequeue_count integer,
    p_max_dequeues  integer,
    p_fresh         boolean
)
    returns boolean
    language plpgsql
    volatile
as $$
begin
    if plane._hold_line(p_queue_id, p_serial_key, p_job_id) then
        perform plane._make_ready(p_queue_id, p_job_id, p_priority, p_dequeue_count > 0,
            p_dequeue_count, p_max_dequeues, p_fresh);
        return true;
    end if;
    insert into plane.waiting (queue_id, serial_key, pos, job_id, priority, dequeue_count, max_dequeues, fresh)
    select p_queue_id, p_serial_key, nextval('plane.job_id_seq'),
        p_job_id, p_priority, p_dequeue_count, p_max_dequeues, p_fresh;
    return false;
end;
$$;

revoke all on function plane._join_line(integer, text, bigint, integer, integer, integer, boolean) from public;

comment on function plane._join_line(integer, text, bigint, integer, integer, integer, boolean) is
'Places a due job in its serial line; true when it is the head, and so ready.';
