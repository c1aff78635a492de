-- renew_leases: the heartbeat of a worker, one call for all that it holds. Locks: leases, by job id.
-- It changes no key column, so it never waits behind a batch that holds its lease FOR KEY SHARE.
create or replace function plane.renew_leases(
    p_worker   text,
    p_job_ids  bigint[],
    p_attempts integer[]
)
    returns table (job_id bigint, state text, lease interval)
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set enable_seqscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $$
#variable_conflict use_column
declare
    v_now timestamptz := plane._now();
begin
    if not plane._is_name(p_worker) then
        perform plane._refuse_worker(p_worker);
    end if;
    if p_job_ids is null or p_attempts is null or cardinality(p_job_ids) <> cardinality(p_attempts) then
        raise exception using
            errcode = '22023',
            message = 'job_ids and attempts must be arrays of one length',
            detail = format('job_ids=%s attempts=%s',
                coalesce(cardinality(p_job_ids)::text, 'NULL'), coalesce(cardinality(p_attempts)::text, 'NULL')),
            hint = 'Give each job the attempt that holds it, in the same place.';
    end if;
    -- a claim in an open transaction may have its worker's row locked: then presence can wait, leases cannot
    update plane.worker w
    set seen_at = v_now
    where w.ctid = any (array(
        select f.ctid from plane.worker f where f.name = p_worker for no key update skip locked));
    return query
    with held as materialized (
        select h.job_id, h.attempt
        from unnest(p_job_ids, p_attempts) as h (job_id, attempt)
    ), locked as materialized (
        select l.job_id, l.attempt, l.queue_id
        from (select h.job_id, h.attempt from held h order by h.job_id) as h
        join plane.lease l on l.job_id = h.job_id and l.attempt = h.attempt
        for no key update of l
    ), renewed as (
        update plane.lease l
        set expires_at = v_now + q.lease
        from locked k
        join plane.queue q on q.id = k.queue_id
        where l.job_id = k.job_id and l.attempt = k.attempt
        returning l.job_id, l.attempt, l.cancelled_by, q.lease
    )
    select h.job_id,
        case when r.job_id is null then 'lost' when r.cancelled_by is null then 'held' else 'cancelling' end,
        r.lease
    from held h
    left join renewed r on r.job_id = h.job_id and r.attempt = h.attempt;
end;
$$;

revoke all on function plane.renew_leases(text, bigint[], integer[]) from public;
grant execute on function plane.renew_leases(text, bigint[], integer[]) to plane_worker;

comment on function plane.renew_leases(text, bigint[], integer[]) is
'Renew the leases of all that a worker holds, (job_ids[i], attempts[i]) each, and its presence;
returns (job_id bigint, state text, lease interval) for each: held, lost (another attempt, or none, has it now) or cancelling
(stop it); and how long it holds from now on, NULL where it is lost. Empty arrays renew the presence alone.
Raises 22023 a worker needs a name of 1 to 200 characters.
Raises 22023 job_ids and attempts must be arrays of one length.
Role: plane_worker.';
