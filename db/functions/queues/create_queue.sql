-- create_queue: a queue with these settings; for one that exists, only the settings given change.
create or replace function plane.create_queue(
    p_queue          text,
    p_lease          interval default null,
    p_max_dequeues   integer  default null,
    p_backoff        interval default null,
    p_backoff_factor numeric  default null,
    p_backoff_cap    interval default null,
    p_retention      interval default null,
    p_max_depth      integer  default null,
    p_notify         text     default null,
    p_blob_retention interval default null,
    p_poison_retention interval default null
)
    returns void
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $$
begin
    if p_queue is null or p_queue !~ '^[a-z0-9][a-z0-9_-]{0,47}$' then
        raise exception using
            errcode = '22023',
            message = 'not a queue name',
            detail = format('queue=%s', coalesce(left(p_queue, 100), 'NULL')),
            hint = 'Use 1 to 48 of a-z, 0-9, - and _, the first a letter or digit.';
    end if;
    if p_lease <= interval '0' or p_lease > interval '7 days'
        or p_max_dequeues not between 1 and 1000000
        or p_backoff < interval '0' or p_backoff > interval '365 days'
        or p_backoff_factor not between 1 and 1000
        or p_backoff_cap < interval '0' or p_backoff_cap > interval '365 days'
        or p_retention < interval '0' or p_retention > interval '100 years'
        or p_max_depth < 0
        or p_notify not in ('always', 'waiters', 'never')
        or p_blob_retention < interval '0' or p_blob_retention > interval '100 years'
        or p_poison_retention < interval '0' or p_poison_retention > interval '100 years'
    then
        raise exception using
            errcode = '22023',
            message = 'a queue setting is out of range',
            detail = format('lease=%s max_dequeues=%s backoff=%s backoff_factor=%s backoff_cap=%s retention=%s max_depth=%s notify=%s '
                'blob_retention=%s poison_retention=%s', p_lease, p_max_dequeues, p_backoff, p_backoff_factor, p_backoff_cap,
                p_retention, p_max_depth, p_notify, p_blob_retention, p_poison_retention),
            hint = 'A lease is above 0 and at most 7 days, a backoff 0 to 365 days, its factor 1 to 1000, notify always, waiters or never.';
    end if;
    insert into plane.queue (name) values (p_queue) on conflict (name) do nothing;
    update plane.queue q
    set lease = coalesce(p_lease, q.lease),
        max_dequeues = coalesce(p_max_dequeues, q.max_dequeues),
        backoff = coalesce(p_backoff, q.backoff),
        backoff_factor = coalesce(p_backoff_factor, q.backoff_factor),
        backoff_cap = coalesce(p_backoff_cap, q.backoff_cap),
        retention = coalesce(p_retention, q.retention),
        max_depth = nullif(coalesce(p_max_depth, q.max_depth), 0),
        notify = coalesce(p_notify, q.notify),
        blob_retention = coalesce(p_blob_retention, q.blob_retention),
        poison_retention = coalesce(p_poison_retention, q.poison_retention)
    where q.name = p_queue;
end;
$$;

revoke all on function plane.create_queue(text, interval, integer, interval, numeric, interval, interval, integer, text, interval,
    interval) from public;
grant execute on function plane.create_queue(text, interval, integer, interval, numeric, interval, interval, integer, text, interval,
    interval) to plane_admin;

comment on function plane.create_queue(text, interval, integer, interval, numeric, interval, interval, integer, text, interval,
    interval) is
'Create a queue, or change the settings given of one that exists.
p_lease: how long an attempt owns a job before it renews (120 s). p_max_dequeues: attempts before poison (5).
p_backoff, p_backoff_factor, p_backoff_cap: pause after a failure, backoff × factor^(n−1), capped (30 s, 1, 1 h).
p_retention: how long done and cancelled jobs are kept at least (24 h, at most 100 years).
p_poison_retention: how long poison is kept at least (for ever; at most 100 years).
p_max_depth: jobs not yet held, scheduled ones included, before enqueue refuses (0 is no limit; approximate).
p_notify: when NOTIFY plane_ready, plane_done, plane_progress: always, waiters (only if somebody waits for it), never.
p_blob_retention: how long blobs can be read after their job has finished, while that is kept (24 h, at most 100 years).
Raises 22023 a queue setting is out of range.
Raises 22023 not a queue name.
Role: plane_admin.';
