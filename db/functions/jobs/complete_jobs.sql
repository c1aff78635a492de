-- complete_jobs: complete_job for many at once. Locks: the leases, by job id, as the scan of their key goes; nothing after
-- them is waited for, but blobs that another completion is just sharing.
-- Nested loops are off: what is gone meets what was asked by hash, however few rows the planner expects of either.
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
    set enable_nestloop = off
    set enable_mergejoin = off
    set jit = off
as $$
#variable_conflict use_column
declare
    v_now         timestamptz := plane._now();
    v_ords        bigint[];
    v_ended       bigint[];
    v_queue_ids   integer[];
    v_live_keys   uuid[];
    v_serial_keys text[];
    v_is_new      boolean;
    v_completed   boolean[];
begin
    perform plane._check_completions(p_job_ids, p_attempts, p_results, p_errors, p_caches);
    with gone as (
        delete from plane.lease l
        where l.job_id = any (p_job_ids)
            -- `is true` keeps it a filter: as a join it might lock in another order
            and ((l.job_id, l.attempt) in (select * from unnest(p_job_ids, p_attempts))) is true
        returning l.job_id, l.queue_id, l.attempt, l.max_dequeues, l.claimed_at, l.live_key, l.locked_by, l.serial_key
    ), ended as materialized (
        select distinct on (g.job_id) g.*, a.result, a.error, a.cache, a.ord
        from gone g
        join unnest(p_job_ids, p_attempts, p_results, p_errors, p_caches)
            with ordinality as a (job_id, attempt, result, error, cache, ord) on a.job_id = g.job_id and a.attempt = g.attempt
        order by g.job_id, a.ord
    ), kept as (
        insert into plane.outcome (job_id, attempt, max_dequeues, claimed_at, finished_at, replaced, status, cache,
            locked_by, result, error)
        select e.job_id, e.attempt, e.max_dequeues, e.claimed_at, v_now,
            concat(s.result, s.error) <> concat(e.result, e.error), 'done', e.cache, e.locked_by, s.result, s.error
        from ended e
        cross join lateral (select plane._storable(e.result) as result, plane._storable(e.error) as error offset 0) as s
    )
    select array_agg(e.ord), array_agg(e.job_id), array_agg(e.queue_id), array_agg(e.live_key), array_agg(e.serial_key),
        bool_or(e.claimed_at >= now())
    into v_ords, v_ended, v_queue_ids, v_live_keys, v_serial_keys, v_is_new
    from ended e;

    v_completed := array(select a.ord in (select unnest(v_ords)) from generate_series(1, cardinality(p_job_ids)) as a (ord));
    if p_blobs_of is not null then
        perform plane._share_many_blobs(p_job_ids, v_completed, p_blobs_of);
    end if;
    if v_ended is not null then
        perform plane._finish_many(v_queue_ids, v_ended, v_live_keys, v_serial_keys, v_is_new);
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
