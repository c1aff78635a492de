-- _join_line_at_once: _join_line for one who must not wait.
create or replace function plane._join_line_at_once(
    p_queue_id      integer,
    p_serial_key    text,
    p_job_id        bigint,
    p_priority      integer,
    p_dequeue_count integer,
    p_max_dequeues  integer,
    p_fresh         boolean
)
    returns void
    language plpgsql
    volatile
    set lock_timeout = '5ms'
as $$
begin
    perform plane._join_line(p_queue_id, p_serial_key, p_job_id, p_priority, p_dequeue_count, p_max_dequeues, p_fresh);
end;
$$;

revoke all on function plane._join_line_at_once(integer, text, bigint, integer, integer, integer, boolean) from public;

comment on function plane._join_line_at_once(integer, text, bigint, integer, integer, integer, boolean) is
'Places a due job in its serial line as _join_line does; fails with lock_not_available where that would wait.';
