-- _place_of: where one live job is, all places asked in one statement. changed_by is the xmax of the row on which it turns.
create or replace function plane._place_of(
    p_job plane.job
)
    returns table (
        place         text,
        lane          integer,
        at            timestamptz,
        dequeue_count integer,
        max_dequeues  integer,
        is_stalled    boolean,
        changed_by    xid
    )
    language sql
    stable
as $$
    select 'ready', r.lane, null::timestamptz, r.dequeue_count, r.max_dequeues, false, r.xmax
    from plane.ready r
    where r.queue_id = p_job.queue_id and r.lane = plane._lane(p_job.priority, false) and r.pos = p_job.id
    union all
    select 'ready', r.lane, null, r.dequeue_count, r.max_dequeues, false, r.xmax
    from plane.ready r
    where r.job_id = p_job.id and r.pos <> r.job_id
    union all
    select d.reason, null, d.available_at, d.dequeue_count, d.max_dequeues, false, d.xmax
    from plane.due d
    where d.job_id = p_job.id
    union all
    select 'waiting', null, null, w.dequeue_count, w.max_dequeues, s.job_id is not null, l.xmax
    from plane.waiting w
    left join plane.line l on l.queue_id = w.queue_id and l.serial_key = w.serial_key
    left join plane.stalled_line s on s.queue_id = l.queue_id and s.serial_key = l.serial_key and s.job_id = l.job_id
    where w.job_id = p_job.id
    union all
    select 'held', null, l.expires_at, l.attempt, l.max_dequeues, false, l.xmax
    from plane.lease l
    where l.job_id = p_job.id;
$$;

revoke all on function plane._place_of(plane.job) from public;

comment on function plane._place_of(plane.job) is
'Place of a live job: ready, scheduled, backoff, waiting (is_stalled: its line is to be handed on) or held; at is when it is
due, or its lease lapses.';
