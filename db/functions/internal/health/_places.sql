-- _places: every place of a live job, as health() looks through them. One statement and so one snapshot: a job on its way
-- from one place to another is seen in exactly one of them.
create or replace function plane._places()
    returns table (
        place         text,
        queue_id      integer,
        job_id        bigint,
        lane          integer,
        pos           bigint,
        dequeue_count integer,
        max_dequeues  integer,
        serial_key    text,
        live_key      uuid
    )
    language sql
    stable
as $$
    select 'ready', r.queue_id, r.job_id, r.lane, r.pos, r.dequeue_count, r.max_dequeues, null::text, null::uuid
    from plane.ready r
    union all
    select d.reason, d.queue_id, d.job_id, null, null, d.dequeue_count, d.max_dequeues, null, null
    from plane.due d
    union all
    select 'waiting', w.queue_id, w.job_id, null, w.pos, w.dequeue_count, w.max_dequeues, w.serial_key, null
    from plane.waiting w
    union all
    select case when l.cancelled_by is null then 'held' else 'stopping' end, l.queue_id, l.job_id, null, null,
        l.attempt - 1, l.max_dequeues, l.serial_key, l.live_key
    from plane.lease l;
$$;

revoke all on function plane._places() from public;

comment on function plane._places() is
'Where each live job is: ready, scheduled, backoff, waiting, held or stopping; dequeue_count is of the attempts that ended.';
