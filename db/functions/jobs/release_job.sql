-- release_job: a worker that shuts down gives its job back at once; the try is not spent.
create or replace function plane.release_job(
    p_job_id  bigint,
    p_attempt integer
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
    v_lease plane.lease;
begin
    delete from plane.lease l
    where l.job_id = p_job_id and l.attempt = p_attempt
    returning l.* into v_lease;
    if not found then
        return false;
    end if;
    perform plane._give_up_lease(v_lease, 'released', null, v_lease.max_dequeues + 1, null);
    return true;
end;
$$;

revoke all on function plane.release_job(bigint, integer) from public;
grant execute on function plane.release_job(bigint, integer) to plane_worker;

comment on function plane.release_job(bigint, integer) is
'Give a held job back unharmed: it is claimable at once, before work that never was claimed, and may be claimed once more than before;
NOTIFY plane_ready.
True when released, false when this attempt no longer holds the job.
Role: plane_worker.';
