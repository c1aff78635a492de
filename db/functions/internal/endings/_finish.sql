-- _finish: the tail of every ending, in the transaction that wrote the outcome: the dedupe key is free, the
-- serial line goes on, whoever waits is told. Locks: lease (the caller's), dedupe key, serial key.
-- Neither lock is waited for: a key that a fresh request is taking over is that request's, and a line that
-- somebody is joining is handed on by the next claim or sweep.
create or replace function plane._finish(
    p_queue_id   integer,
    p_job_id     bigint,
    p_claimed_at timestamptz,
    p_live_key   uuid,
    p_serial_key text,
    p_notify     text
)
    returns boolean
    language plpgsql
    volatile
as $$
begin
    if p_live_key is not null then
        perform plane._free_key(p_live_key, p_job_id);
    end if;
    if p_serial_key is not null then
        perform plane._hand_on_line(p_queue_id, p_serial_key, p_job_id);
    end if;
    -- after the row that registering callers lock is gone, so that none slips between look and end; a claim since now(), the
    -- start of this transaction, may be of this very one: nobody could see and lock its lease
    if p_notify = 'always' or p_notify = 'waiters' and (p_claimed_at >= now() or plane._is_awaited(p_job_id)) then
        perform pg_notify('plane_done', p_job_id::text);
    end if;
    return true;
end;
$$;

revoke all on function plane._finish(integer, bigint, timestamptz, uuid, text, text) from public;

comment on function plane._finish(integer, bigint, timestamptz, uuid, text, text) is
'Frees the dedupe key, hands on the serial line and tells whoever waits, as the queue''s notify setting rules; true.';
