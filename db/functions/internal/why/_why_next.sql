-- _why_next: nothing stands in its way but those before it.
create or replace function plane._why_next(
    p_job plane.job
)
    returns table (reason text, says text, evidence jsonb)
    language sql
    stable
as $$
    select case when n.ahead > 0 then 'behind' else 'next' end,
        case
            when p.place = 'held' and p.dequeue_count >= p.max_dequeues then
                format('its last lease lapsed at %s: the next claim or sweep makes it poison', p.at)
            when p.place = 'held' then format('its lease lapsed at %s: the next claim hands it out again', p.at)
            when p.place = 'waiting' then 'the head of its serial key has ended: the next claim or sweep hands the line on'
            when p.place <> 'ready' then format('it was due at %s: the next claim or sweep makes it ready', p.at)
            when n.ahead > 0 then
                format('behind %s jobs that are older or more urgent', case when n.ahead < 999 then '' else 'at least ' end || n.ahead)
            else 'the next claim takes it'
        end,
        jsonb_strip_nulls(jsonb_build_object('ahead', n.ahead, 'attempts', p.dequeue_count, 'max_dequeues', p.max_dequeues,
            'since', p.at, 'worker_seen_at', (select plane._seen_at(q) from plane.queue q where q.id = p_job.queue_id)))
    from plane._place_of(p_job) p
    cross join lateral (select coalesce(plane._position(p_job) - 1, 0) as ahead) as n
    limit 1;
$$;

revoke all on function plane._why_next(plane.job) from public;

comment on function plane._why_next(plane.job) is
'Reason behind or next: the job will be claimed, after those ahead of it (counting ends at 999) or at once.';
