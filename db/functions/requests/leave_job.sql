-- leave_job: a caller wants its job no more, and who leaves it last cancels it. Locks: the job, against others that leave it
-- (waited for: each finds gone who went before) and against those that join it (not waited for: they want it); what is noted
-- of the caller; then as plane.request_cancel. Which others want it is looked at under these locks, by a new snapshot.
create or replace function plane.leave_job(
    p_queue     text,
    p_job_id    bigint,
    p_scope_key text,
    p_waiter    text
)
    returns text
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set lock_timeout = '500ms'
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_sort = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $$
declare
    v_queue  plane.queue := plane._queue_named(p_queue);
    v_job    plane.job;
    v_until  timestamptz;
    v_status text;
begin
    if not plane._is_name(p_waiter) then
        raise exception using
            errcode = '22023',
            message = 'a waiter has a name of 1 to 200 characters',
            detail = format('waiter_length=%s', coalesce(length(p_waiter)::text, 'NULL')),
            hint = 'Leave by the name that the caller was registered with: its own scope key.';
    end if;
    select j.* into v_job
    from plane.job j
    where j.id = p_job_id and j.queue_id = v_queue.id and j.scope_key = p_scope_key
    for no key update;
    if not found then
        return null;
    end if;
    v_until := plane._interested_until(v_job.created_at);
    if v_until > plane._now() and p_waiter = plane._caller(v_job.envelope) then
        insert into plane.waiter (job_id, waiter, deadline, state)
        values (p_job_id, p_waiter, v_until, 'left')
        on conflict (job_id, waiter) do update
        set deadline = excluded.deadline, state = excluded.state;
    else
        delete from plane.waiter w where w.job_id = p_job_id and w.waiter = p_waiter and isfinite(w.deadline);
    end if;
    v_status := plane._status(p_job_id);
    if v_status in ('pending', 'waiting', 'in_progress') and v_job.by_request and not plane._sees_past() then
        perform from plane.job j where j.id = p_job_id for update skip locked;
        if found and not plane._is_wanted(v_job) then
            return plane._cancel(p_job_id, 'leave_job');
        end if;
    end if;
    return v_status;
end;
$$;

revoke all on function plane.leave_job(text, bigint, text, text) from public;
grant execute on function plane.leave_job(text, bigint, text, text) to plane_reader;

comment on function plane.leave_job(text, bigint, text, text) is
'A caller wants its job no more; returns the job''s status then, NULL when there is no such job for this queue and scope key.
Where nobody else wants it, a live job is cancelled as by plane.request_cancel (by: leave_job). It is wanted by whoever asked
for it, for two minutes; by who waits for it (register_waiter) until the deadline; for as long as it lives by a plain enqueue
that joined it, and by who has retried it. p_waiter: the name it was registered with; the caller''s own scope key
(plane.scope_key with its actor) is the name of who asked. Who asks or registers again wants it again.
Waits at most half a second for a claim or an ending under way, or for another who leaves, whatever the caller''s
lock_timeout; on 55P03 try again. Who asks the same waits for the caller''s transaction: end that at once. Under REPEATABLE
READ or stricter nobody can see who has just come: there it cancels nothing.
Raises 22023 a waiter has a name of 1 to 200 characters.
Raises 55P03 canceling statement due to lock timeout.
Raises PL404 no such queue.
Role: plane_reader.';
