-- _complete_leases: the leases of a batch become outcomes. Locks: the leases, by job id, as the scan of their key goes.
-- Settings of its own: what is gone meets what was asked by hash, however few rows the planner expects of either.
create or replace function plane._complete_leases(
    p_job_ids       bigint[],
    p_attempts      integer[],
    p_results       json[],
    p_errors        json[],
    p_caches        text[],
    out ords        bigint[],
    out job_ids     bigint[],
    out queue_ids   integer[],
    out live_keys   uuid[],
    out serial_keys text[],
    out is_new      boolean
)
    returns record
    language plpgsql
    volatile
    set enable_indexscan = on
    set enable_hashjoin = on
    set enable_nestloop = off
as $$
declare
    v_now timestamptz := plane._now();
begin
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
    into ords, job_ids, queue_ids, live_keys, serial_keys, is_new
    from ended e;
end;
$$;

revoke all on function plane._complete_leases(bigint[], integer[], json[], json[], text[]) from public;

comment on function plane._complete_leases(bigint[], integer[], json[], json[], text[]) is
'Ends those jobs whose attempts hold them: their places in the arrays, and what _finish_many asks of them; NULL where there are none.';
