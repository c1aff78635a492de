-- complete_job: the answer, the ending and the notification in one transaction.
-- Removing the lease of this very attempt is the fence: whoever finds none has lost the job. Locks: lease, then the blobs
-- of p_blobs_of; dedupe key and serial key are not waited for.
create or replace function plane.complete_job(
    p_job_id   bigint,
    p_attempt  integer,
    p_result   json default null,
    p_error    json default null,
    p_cache    text default null,
    p_blobs_of bigint default null
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
    v_result constant json := plane._storable(p_result);
    v_error  constant json := plane._storable(p_error);
    v_lease  record;
begin
    if p_cache is not null then
        perform plane._check_cache(p_cache);
    end if;
    if plane._is_large(p_result) or plane._is_large(p_error) then
        perform plane._refuse_large(p_result, p_error);
    end if;
    delete from plane.lease l
    where l.job_id = p_job_id and l.attempt = p_attempt
    returning l.queue_id, l.max_dequeues, l.claimed_at, l.live_key, l.locked_by, l.serial_key,
        (select q.notify from plane.queue q where q.id = l.queue_id) as notify
    into v_lease;
    if not found then
        return false;
    end if;
    insert into plane.outcome (job_id, attempt, max_dequeues, claimed_at, finished_at, replaced, status, cache,
        locked_by, result, error)
    values (p_job_id, p_attempt, v_lease.max_dequeues, v_lease.claimed_at, plane._now(),
        concat(v_result, v_error) <> concat(p_result, p_error), 'done', p_cache, v_lease.locked_by, v_result, v_error);
    if p_blobs_of is not null then
        perform plane._share_blobs(p_job_id, p_blobs_of);
    end if;
    return plane._finish(v_lease.queue_id, p_job_id, v_lease.claimed_at, v_lease.live_key, v_lease.serial_key, v_lease.notify);
end;
$$;

revoke all on function plane.complete_job(bigint, integer, json, json, text, bigint) from public;
grant execute on function plane.complete_job(bigint, integer, json, json, text, bigint) to plane_worker;

comment on function plane.complete_job(bigint, integer, json, json, text, bigint) is
'Finish a held job with its result, or with an error that is the answer ({status, code, message, …}); true when done,
false when this attempt no longer holds the job. p_cache: hit, coalesced or NULL for computed.
p_blobs_of: the job that computed the result, where it names blobs of that one; they are kept as long as this job''s own
would be, and read as blobs of this job. It is of the same queue and scope key, and done.
What no text can hold (a NUL, half a surrogate pair) is replaced by U+FFFD and the outcome flagged; numbers are kept
digit for digit.
Raises 22023 cache is hit, coalesced or NULL.
Raises PL404 no such job to take blobs from.
Raises PL410 the blobs have expired.
Raises PL413 a result or error is limited to 1 MiB.
Role: plane_worker.';
