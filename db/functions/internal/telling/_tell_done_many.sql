-- _tell_done_many: tells whoever waits for the jobs of a batch, as many ids in a payload as it holds (below 8000 bytes).
create or replace function plane._tell_done_many(
    p_leases plane.lease[]
)
    returns void
    language plpgsql
    volatile
as $$
declare
    v_always  integer[];
    v_waiters integer[];
begin
    select array_agg(q.id) filter (where q.notify = 'always'), array_agg(q.id) filter (where q.notify = 'waiters')
    into v_always, v_waiters
    from plane.queue q
    where q.id = any (array(select l.queue_id from unnest(p_leases) as l));
    perform pg_notify('plane_done', string_agg(t.job_id::text, ',' order by t.job_id))
    from (
        -- an id that begins within a payload's share ends within it, or 19 bytes later at most
        select l.job_id, sum(length(l.job_id::text) + 1) over (order by l.job_id) / 7950 as payload
        from unnest(p_leases) as l
        where l.queue_id = any (v_always)
            or l.queue_id = any (v_waiters)
                -- as _finish and _is_awaited do
                and (plane._sees_past() or l.claimed_at >= now()
                    or (select true from plane.waiter w where w.job_id = l.job_id and w.state = 'waits' limit 1))
    ) as t
    group by t.payload;
end;
$$;

revoke all on function plane._tell_done_many(plane.lease[]) from public;

comment on function plane._tell_done_many(plane.lease[]) is
'NOTIFY plane_done with the ids of jobs that have ended, as their queues'' notify settings rule.';
