-- complete_jobs: complete_job for many at once. Locks: the leases, by job id; nothing after them is waited for, but blobs that
-- another completion is just sharing.
create or replace function plane.complete_jobs(
    p_job_ids  bigint[],
    p_attempts integer[],
    p_results  json[] default null,
    p_errors   json[] default null,
    p_caches   text[] default null,
    p_blobs_of bigint[] default null
)
    returns table (job_id bigint, completed boolean)
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $$
declare
    v_ended     record;
    v_completed boolean[];
begin
    perform plane._check_completions(p_job_ids, p_attempts, p_results, p_errors, p_caches);
    v_ended := plane._complete_leases(p_job_ids, p_attempts, p_results, p_errors, p_caches);
    v_completed := array(
        select a.ord in (select unnest(v_ended.ords)) from generate_series(1, cardinality(p_job_ids)) as a (ord));
    if p_blobs_of is not null then
        perform plane._share_many_blobs(p_job_ids, v_completed, p_blobs_of);
    end if;
    if v_ended.job_ids is not null then
        perform plane._finish_many(v_ended.queue_ids, v_ended.job_ids, v_ended.live_keys, v_ended.serial_keys, v_ended.is_new);
    end if;
    return query select * from unnest(p_job_ids, v_completed);
end;
$$;

revoke all on function plane.complete_jobs(bigint[], integer[], json[], json[], text[], bigint[]) from public;
grant execute on function plane.complete_jobs(bigint[], integer[], json[], json[], text[], bigint[]) to plane_worker;

comment on function plane.complete_jobs(bigint[], integer[], json[], json[], text[], bigint[]) is
'Finish many held jobs as complete_job does, (job_ids[i], attempts[i], results[i], errors[i], caches[i],
blobs_of[i]) each; returns (job_id bigint, completed boolean) for each, in their order: false where that attempt no longer
holds the job. All but the first two may be NULL, or have NULLs in them. A refusal''s detail names the element, from 1.
Raises 22023 cache is hit, coalesced or NULL.
Raises 22023 the arrays must be of one length.
Raises PL404 no such job to take blobs from.
Raises PL410 the blobs have expired.
Raises PL413 a result or error is limited to 1 MiB.
Role: plane_worker.';
