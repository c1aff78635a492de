-- register_waiter: somebody waits for a job. Commit, then read by await_job: no ending slips between.
create or replace function plane.register_waiter(
    p_queue     text,
    p_job_id    bigint,
    p_scope_key text,
    p_waiter    text,
    p_deadline  timestamptz
)
    returns boolean
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_sort = off
    set jit = off
as $$
declare
    v_queue plane.queue := plane._queue_named(p_queue);
begin
    if not plane._is_name(p_waiter) or p_deadline is null
        or p_deadline > plane._now() + interval '1 day'
    then
        raise exception using
            errcode = '22023',
            message = 'a waiter has a name of 1 to 200 characters and a deadline within a day',
            detail = format('waiter_length=%s deadline=%s',
                coalesce(length(p_waiter)::text, 'NULL'), coalesce(p_deadline::text, 'NULL')),
            hint = 'Register again to wait longer.';
    end if;
    insert into plane.waiter as w (job_id, waiter, deadline)
    select j.id, p_waiter, p_deadline
    from plane.job j
    where j.id = p_job_id and j.queue_id = v_queue.id and j.scope_key = p_scope_key
    on conflict (job_id, waiter) do update
    set deadline = greatest(w.deadline, excluded.deadline);
    return found;
end;
$$;

revoke all on function plane.register_waiter(text, bigint, text, text, timestamptz) from public;
grant execute on function plane.register_waiter(text, bigint, text, text, timestamptz) to plane_reader;

comment on function plane.register_waiter(text, bigint, text, text, timestamptz) is
'Note that somebody waits for a job until a deadline; false when there is no such job for this queue and scope key.
Registering again extends the deadline. The end is told by NOTIFY plane_done, unless the queue''s notify is never.
Raises 22023 a waiter has a name of 1 to 200 characters and a deadline within a day.
Raises PL404 no such queue.
Role: plane_reader.';
