-- _tell_done_many: tells whoever waits for the jobs of a batch, as many ids in a payload as it holds (below 8000 bytes).
create or replace function plane._tell_done_many(
    p_queue_ids integer[],
    p_job_ids   bigint[],
    p_is_new    boolean
)
    returns void
    language plpgsql
    volatile
as $$
declare
    v_always  integer[];
    v_waiters integer[];
    v_awaited bigint[];
begin
    -- nobody could wait for what is new, and an older snapshot cannot see who waits: as in _finish and _is_awaited
    select array_agg(q.id) filter (where q.notify = 'always' or p_is_new or plane._sees_past()), array_agg(q.id)
    into v_always, v_waiters
    from plane.queue q
    where q.id = any (p_queue_ids) and q.notify <> 'never';
    if v_waiters is null then
        return;
    end if;
    v_awaited := array(
        select a.job_id
        from unnest(p_job_ids) as a (job_id)
        cross join lateral (select from plane.waiter w where w.job_id = a.job_id and w.state = 'waits' limit 1) as w);
    if v_always is null and v_awaited = '{}' then
        return;
    end if;
    perform pg_notify('plane_done', string_agg(t.job_id::text, ',' order by t.job_id))
    from (
        -- an id that begins within a payload's share ends within it, or 19 bytes later at most
        select a.job_id, sum(length(a.job_id::text) + 1) over (order by a.job_id) / 7950 as payload
        from unnest(p_queue_ids, p_job_ids) as a (queue_id, job_id)
        where a.queue_id = any (v_always)
            or a.queue_id = any (v_waiters) and a.job_id in (select unnest(v_awaited))
    ) as t
    group by t.payload;
end;
$$;

revoke all on function plane._tell_done_many(integer[], bigint[], boolean) from public;

comment on function plane._tell_done_many(integer[], bigint[], boolean) is
'NOTIFY plane_done with the ids of jobs that have ended, as their queues'' notify settings rule.
p_is_new: some have been claimed since this transaction began; then all of the batch are told.';
