-- _hold_line: makes a job the head of its serial line, or holds the head for it.
-- The head is held FOR KEY SHARE: it cannot end and leave who joins behind nobody.
create or replace function plane._hold_line(
    p_queue_id   integer,
    p_serial_key text,
    p_job_id     bigint
)
    returns boolean
    language plpgsql
    volatile
as $$
begin
    loop
        insert into plane.line (queue_id, serial_key, job_id)
        values (p_queue_id, p_serial_key, p_job_id)
        on conflict (queue_id, serial_key) do nothing;
        if found then
            return true;
        end if;
        perform from plane.line l
        where l.queue_id = p_queue_id and l.serial_key = p_serial_key
        for key share;
        if found then
            return false;
        end if;
    end loop;
end;
$$;

revoke all on function plane._hold_line(integer, text, bigint) from public;

comment on function plane._hold_line(integer, text, bigint) is
'Opens a serial line with this job at its head and returns true, or holds the line that there is and returns false.';
