-- _join_line: a due job takes the head of its serial line, or a place behind it.
-- The head is held FOR KEY SHARE while joining behind it: it cannot end and leave the joiner behind nobody.
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
    set search_path = pg_catalog, pg_temp
as $$
begin
    loop
        insert into plane.line (queue_id, serial_key, job_id)
        values (p_queue_id, p_serial_key, p_job_id)
        on conflict (queue_id, serial_key) do nothing;
        if found then
            perform plane._make_ready(p_queue_id, p_job_id, p_priority, p_dequeue_count > 0,
                p_dequeue_count, p_max_dequeues, p_fresh);
            return true;
        end if;

        perform from plane.line l
        where l.queue_id = p_queue_id and l.serial_key = p_serial_key
        for key share;
        if found then
            insert into plane.waiting (queue_id, serial_key, pos, job_id, priority, dequeue_count, max_dequeues, fresh)
            select p_queue_id, p_serial_key, nextval('plane.job_id_seq'),
                p_job_id, p_priority, p_dequeue_count, p_max_dequeues, p_fresh;
            return false;
        end if;
    end loop;
end;
$$;

revoke all on function plane._join_line(integer, text, bigint, integer, integer, integer, boolean) from public;

comment on function plane._join_line(integer, text, bigint, integer, integer, integer, boolean) is
'Places a due job in its serial line; true when it is the head, and so ready.';
