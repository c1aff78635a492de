-- enqueue: one job, or the live one that has this dedupe key.
-- Part of the caller's transaction: the job exists exactly if that commits, and until then another caller of the
-- same dedupe key waits. Locks: plane.ready, the queue's row for a priority that is new to it, dedupe key, serial key, the
-- job of a request that is joined.
create or replace function plane.enqueue(
    p_queue        text,
    p_operation    text,
    p_params       jsonb       default '{}',
    p_envelope     jsonb       default '{}',
    p_dedupe_key   text        default null,
    p_serial_key   text        default null,
    p_priority     integer     default 0,
    p_available_at timestamptz default null,
    p_max_dequeues integer     default null,
    p_version      integer     default null
)
    returns table (job_id bigint, coalesced boolean)
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
    v_job record;
begin
    if plane._check_job(p_operation, p_params, p_envelope)
        and (num_nonnulls(p_dedupe_key, p_serial_key, p_available_at, p_max_dequeues, p_version) > 0
            or p_priority is distinct from 0)
    then
        perform plane._check_settings(p_dedupe_key, p_serial_key, p_priority, p_available_at, p_max_dequeues, p_version);
    end if;
    lock table plane.ready in row exclusive mode;
    v_job := plane._enqueue(plane._queue_named(p_queue), p_operation, p_version, p_params, p_envelope, null,
        p_dedupe_key, p_serial_key, p_priority, p_available_at, p_max_dequeues, false, false);
    job_id := v_job.job_id;
    coalesced := v_job.coalesced;
    if coalesced and plane._is_request_key(p_dedupe_key) then
        perform plane._keep_jobs(array[job_id]);
    end if;
    return next;
end;
$$;

revoke all on function plane.enqueue(text, text, jsonb, jsonb, text, text, integer, timestamptz, integer, integer) from public;
grant execute on function plane.enqueue(text, text, jsonb, jsonb, text, text, integer, timestamptz, integer, integer)
    to plane_producer;

comment on function plane.enqueue(text, text, jsonb, jsonb, text, text, integer, timestamptz, integer, integer) is
'Enqueue one job, or join the live one that has this dedupe key; returns (job_id bigint, coalesced boolean).
Joining pulls the live job forward to an earlier available_at or a more urgent (lower) priority, except out of a backoff
or a retry that was spread over time. The job of a request that is joined is no longer cancelled by who leaves it; who is
just leaving it is waited for.
p_priority: lower is sooner, default 0; a queue keeps 32 priorities apart, further ones go with the nearest less urgent.
The first job of a priority new to its queue locks the queue until its transaction ends.
Raises 22023 an operation has a name of 1 to 200 characters.
Raises 22023 an argument is out of range.
Raises PL404 no such queue.
Raises PL413 params and envelope are limited to 256 KiB.
Raises PL422 params and envelope must be JSON objects.
Raises PL429 the queue is full.
Role: plane_producer.';
