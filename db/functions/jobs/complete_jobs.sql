-- complete_jobs: complete_job for many at once. Locks: the leases, by job id; nothing after them is waited
-- for, but blobs that another completion is just sharing.
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
#variable_conflict use_column
declare
    v_now       timestamptz := plane._now();
    v_completed boolean[];
    v_leases    plane.lease[];
begin
    perform plane._check_completions(p_job_ids, p_attempts, p_results, p_errors, p_caches);
    with asked as (
        select a.*, row_number() over (partition by a.job_id, a.attempt order by a.ord) as turn
        from unnest(p_job_ids, p_attempts, p_results, p_errors, p_caches)
            with ordinality as a (job_id, attempt, result, error, cache, ord)
    ), locked as materialized (
        select a.ord, a.result, a.error, a.cache, l.lease
        from (select * from asked order by job_id, attempt, ord) as a
        left join lateral (
            select f as lease
            from plane.lease f
            where f.job_id = a.job_id and f.attempt = a.attempt and a.turn = 1
            for update) as l on true
    ), gone as (
        delete from plane.lease l
        where l.job_id = any (array(select (k.lease).job_id from locked k))
    ), kept as (
        insert into plane.outcome (job_id, attempt, max_dequeues, claimed_at, finished_at, replaced, status, cache,
            locked_by, result, error)
        select (k.lease).job_id, (k.lease).attempt, (k.lease).max_dequeues, (k.lease).claimed_at, v_now,
            concat(s.result, s.error) <> concat(k.result, k.error), 'done', k.cache, (k.lease).locked_by, s.result, s.error
        from locked k
        cross join lateral (select plane._storable(k.result) as result, plane._storable(k.error) as error offset 0) as s
        where (k.lease).job_id is not null
    )
    select array_agg((k.lease).job_id is not null order by k.ord),
        array_agg(k.lease order by (k.lease).job_id) filter (where (k.lease).job_id is not null)
    into v_completed, v_leases
    from locked k;

    if p_blobs_of is not null then
        perform plane._share_many_blobs(p_job_ids, v_completed, p_blobs_of);
    end if;
    if v_leases is not null then
        perform plane._finish_many(v_leases);
    end if;
    return query
    select a.job_id, a.completed
    from unnest(p_job_ids, v_completed) with ordinality as a (job_id, completed, ord)
    order by a.ord;
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
