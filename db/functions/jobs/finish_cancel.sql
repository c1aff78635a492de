-- finish_cancel: the worker's word that a job it was asked to stop has stopped. What was committed stays.
create or replace function plane.finish_cancel(
    p_job_id  bigint,
    p_attempt integer,
    p_result  json default null
)
    returns boolean
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_sort = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $$
declare
    v_result json := plane._storable(p_result);
    v_lease  plane.lease;
begin
    if plane._is_large(p_result) then
        perform plane._refuse_large(p_result, null);
    end if;
    delete from plane.lease l
    where l.job_id = p_job_id and l.attempt = p_attempt and l.cancelled_by is not null
    returning l.* into v_lease;
    if not found then
        return false;
    end if;
    insert into plane.attempt (job_id, attempt, claimed_at, ended_at, outcome, locked_by)
    values (v_lease.job_id, v_lease.attempt, v_lease.claimed_at, plane._now(), 'cancelled', v_lease.locked_by);
    perform plane._end(v_lease, 'cancelled', v_result, plane._cancelled(v_lease.cancelled_by),
        concat(v_result) <> concat(p_result));
    return true;
end;
$$;

revoke all on function plane.finish_cancel(bigint, integer, json) from public;
grant execute on function plane.finish_cancel(bigint, integer, json) to plane_worker;

comment on function plane.finish_cancel(bigint, integer, json) is
'Say that a job which was asked to stop has stopped: it is cancelled, and keeps p_result, what it had got done;
NOTIFY plane_done.
True when it is; false when this attempt no longer holds the job, or nobody asked it to stop.
Raises PL413 a result or error is limited to 1 MiB.
Role: plane_worker.';
