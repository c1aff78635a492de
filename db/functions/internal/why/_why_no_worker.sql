-- _why_no_worker: nobody is there to claim it.
create or replace function plane._why_no_worker(
    p_job plane.job
)
    returns table (reason text, says text, evidence jsonb)
    language sql
    stable
as $$
    select 'no_worker', concat('no worker has been seen for queue ', q.name, ' since ' || s.seen_at),
        jsonb_build_object('queue', q.name, 'seen_at', s.seen_at,
            'registered', (select count(*) from plane.worker w where w.queue_id = q.id))
    from plane.queue q
    cross join lateral plane._seen_at(q) as s (seen_at)
    where q.id = p_job.queue_id and coalesce(s.seen_at < plane._now() - plane._patience(q), true);
$$;

revoke all on function plane._why_no_worker(plane.job) from public;

comment on function plane._why_no_worker(plane.job) is
'Reason no_worker: there is no fresh sign of a worker of the queue; seen_at null is never.';
