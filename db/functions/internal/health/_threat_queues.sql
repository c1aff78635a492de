-- _threat_queues: work and chores that nobody does, and queues that will refuse more.
create or replace function plane._threat_queues()
    returns table (problem text, queue_id integer, job_id bigint, says text)
    language sql
    stable
as $$
    with queue as materialized (
        select q as this, q.id, q.max_depth, q.paused_at, n.now - plane._patience(q) as since, s.seen_at,
            coalesce(s.seen_at < n.now - plane._patience(q), true) as is_alone
        from plane.queue q
        cross join lateral (select plane._now() as now) as n
        cross join lateral (select plane._seen_at(q) as seen_at) as s
    )
    select 'queue_without_worker', q.id, w.job_id,
        concat('No worker has been seen ', 'since ' || q.seen_at, case when q.seen_at is null then 'at all' end,
            ', and these jobs could be claimed. Start one, or pause the queue.')
    from queue q
    cross join lateral (
        select l.job_id from plane.lease l where l.queue_id = q.id and l.expires_at <= q.since
        union all
        select d.job_id from plane.due d where d.queue_id = q.id and d.available_at <= q.since
        union all
        select r.job_id
        from unnest((q.this).lanes) as u (lane)
        cross join lateral (
            select r.job_id from plane.ready r where r.queue_id = q.id and r.lane = u.lane order by r.pos limit 100) as r
        where (select j.created_at from plane.job j where j.id = r.job_id) <= q.since
        limit 100) as w
    where q.is_alone and q.paused_at is null
    union all
    select 'lease_unswept', q.id, l.job_id,
        'These leases lapsed minutes ago and nobody took the jobs back, though workers are there. Call plane.sweep and '
        'see who calls it; row_locked tells where a transaction is in its way.'
    from queue q
    join plane.lease l on l.queue_id = q.id and l.expires_at <= q.since
    where not q.is_alone
    union all
    select 'due_unswept', q.id, d.job_id,
        'The time of these jobs came minutes ago and nobody made them ready, though workers are there. Call plane.sweep '
        'and see who calls it; row_locked tells where a transaction is in its way.'
    from queue q
    join plane.due d on d.queue_id = q.id and d.available_at <= q.since
    where not q.is_alone
    union all
    select 'waiter_unswept', j.queue_id, w.job_id,
        'Whoever waits for these jobs gave up ten minutes ago and is still noted. Call plane.sweep, as every edge and '
        'worker does.'
    from plane.waiter w
    left join lateral (select f.queue_id from plane.job f where f.id = w.job_id offset 0) as j on true
    where w.deadline < plane._now() - interval '10 minutes'
    union all
    select 'workers_unforgotten', w.queue_id, null,
        'Workers that were not seen for two days are still noted, so nobody calls plane.maintain and finished work stays, '
        'too. Call it every few minutes.'
    from plane.worker w
    where w.seen_at < plane._now() - interval '2 days'
    union all
    select 'queue_nearly_full', q.id, null,
        format('Nine tenths of max_depth (%s) are taken: enqueue will refuse. Add workers, or raise it.', q.max_depth)
    from queue q
    where q.max_depth is not null and exists (
        select from (
            select from plane.ready r where r.queue_id = q.id
            union all
            select from plane.waiting w where w.queue_id = q.id
            union all
            select from plane.due d where d.queue_id = q.id
        ) as live
        offset ceil(q.max_depth * 0.9)::integer - 1
        limit 1);
$$;

revoke all on function plane._threat_queues() from public;

comment on function plane._threat_queues() is
'What time has brought and nobody has looked at, workers long gone, and queues that are nearly full.';
