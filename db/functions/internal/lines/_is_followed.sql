-- _is_followed: a function, so that only who needs the answer touches plane.waiting.
create or replace function plane._is_followed(
    p_queue_id   integer,
    p_serial_key text
)
    returns boolean
    language plpgsql
    stable
as $$
begin
    perform from plane.waiting w where w.queue_id = p_queue_id and w.serial_key = p_serial_key limit 1;
    return found;
end;
$$;

revoke all on function plane._is_followed(integer, text) from public;

comment on function plane._is_followed(integer, text) is
'Whether the caller''s snapshot shows a job behind the head of a serial line.';
