-- await_jobs: await_job for many pairs at once. Locks: the leases by job id, as batches of completions do.
create or replace function plane.await_jobs(
    p_queue      text,
    p_job_ids    bigint[],
    p_scope_keys text[],
    p_max_bytes  integer default null
)
    returns setof plane.job_answer
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set lock_timeout = '500ms'
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $$
declare
    v_queue plane.queue := plane._queue_named(p_queue);
begin
    perform plane._check_pairs(p_job_ids, p_scope_keys);
    perform from (
        select distinct a.job_id
        from unnest(p_job_ids, p_scope_keys) as a (job_id, scope_key)
        cross join lateral (select j.queue_id, j.scope_key from plane.job j where j.id = a.job_id offset 0) as j
        where j.queue_id = v_queue.id and j.scope_key = a.scope_key
        order by a.job_id
    ) as a
    cross join lateral (select from plane.lease l where l.job_id = a.job_id for key share) as l;
    if p_max_bytes is null then
        return query select * from plane._answers(v_queue, p_job_ids, p_scope_keys);
    else
        return query select * from plane._answers_within(v_queue, p_job_ids, p_scope_keys, p_max_bytes);
    end if;
end;
$$;

revoke all on function plane.await_jobs(text, bigint[], text[], integer) from public;
grant execute on function plane.await_jobs(text, bigint[], text[], integer) to plane_reader;

comment on function plane.await_jobs(text, bigint[], text[], integer) is
'As await_job, after register_waiters has committed, for (job_ids[i], scope_keys[i]) each; pairs that see nothing give no
row. It waits for each completion under way, at most half a second, whatever the caller''s lock_timeout; on 55P03 try again.
max_bytes: as in get_results.
Raises 22023 job_ids and scope_keys must be arrays of one length.
Raises 22023 max_bytes must not be negative.
Raises 55P03 canceling statement due to lock timeout.
Raises PL404 no such queue.
Role: plane_reader.';
