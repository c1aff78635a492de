-- register_waiter: somebody waits for a job. Commit, then read by await_job: no ending slips between. Locks: the job, FOR KEY
-- SHARE, not waited for; what is noted of this waiter.
create or replace function plane.register_waiter(
    p_queue     text,
    p_job_id    bigint,
    p_scope_key text,
    p_waiter    text,
    p_wait      interval
)
    returns boolean
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_sort = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $$
declare
    v_queue plane.queue := plane._queue_named(p_queue);
begin
    perform plane._check_waiters(array[p_waiter], p_wait);
    perform from plane.job j where j.id = p_job_id and j.queue_id = v_queue.id and j.scope_key = p_scope_key;
    if not found then
        return false;
    end if;
    perform plane._note_interest(array[p_job_id], array[p_waiter], plane._now() + p_wait, 'waits');
    return true;
end;
$$;

revoke all on function plane.register_waiter(text, bigint, text, text, interval) from public;
grant execute on function plane.register_waiter(text, bigint, text, text, interval) to plane_reader;

comment on function plane.register_waiter(text, bigint, text, text, interval) is
'Note that somebody waits for a job, for p_wait from now; false when there is no such job for this queue and scope key.
The deadline is by the database''s clock, in steps of ten seconds, rounded up; registering again extends it. The end is
told by NOTIFY plane_done, unless the queue''s notify is never. Until the deadline, or until plane.leave_job with this
name, the job is wanted. p_waiter: a caller''s own scope key (plane.scope_key with its actor), where he is to leave by it.
Raises 22023 a waiter has a name of 1 to 200 characters and a wait above 0, of at most a day.
Raises PL404 no such queue.
Role: plane_reader.';
