-- _seen_at: the last sign of a worker of a queue. One that never registered shows by what it holds, and by what ended
-- among the ids just before the first ready row.
create or replace function plane._seen_at(
    p_queue plane.queue
)
    returns timestamptz
    language sql
    stable
as $$
    select greatest(
        (select max(w.seen_at) from plane.worker w where w.queue_id = p_queue.id),
        (select max(l.claimed_at) from plane.lease l where l.queue_id = p_queue.id),
        (
            select max((select o.finished_at from plane.outcome o where o.job_id = j.id and o.attempt > 0))
            from (
                select coalesce(min(f.pos), pg_sequence_last_value('plane.job_id_seq')) as pos
                from unnest(p_queue.lanes) as u (lane)
                cross join lateral (
                    select r.pos
                    from plane.ready r
                    where r.queue_id = p_queue.id and r.lane = u.lane
                    order by r.pos
                    limit 1) as f
            ) as front
            join plane.job j on j.id between front.pos - 1000 and front.pos
            where j.queue_id = p_queue.id));
$$;

revoke all on function plane._seen_at(plane.queue) from public;

comment on function plane._seen_at(plane.queue) is
'When a worker of a queue was last seen: a heartbeat, a claim or an ending; NULL is never.';
