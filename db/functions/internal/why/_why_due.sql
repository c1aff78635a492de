-- _why_due: its time has not come: it was scheduled, or pauses after a failure.
create or replace function plane._why_due(
    p_job plane.job
)
    returns table (reason text, says text, evidence jsonb)
    language sql
    stable
as $$
    select 'due',
        format('due in %s s, at %s, %s', ceil(extract(epoch from d.available_at - n.now)), d.available_at,
            case when d.reason = 'backoff' then 'after failure ' || d.dequeue_count else 'as it was scheduled' end),
        jsonb_strip_nulls(jsonb_build_object('available_at', d.available_at, 'because', d.reason,
            'attempts', d.dequeue_count, 'max_dequeues', d.max_dequeues, 'last_worker', a.locked_by,
            'last_error', left(a.error::text, 1000)))
    from plane.due d
    cross join lateral (select plane._now() as now) as n
    left join plane.attempt a on a.job_id = d.job_id and a.attempt = d.dequeue_count
    where d.job_id = p_job.id and d.available_at > n.now;
$$;

revoke all on function plane._why_due(plane.job) from public;

comment on function plane._why_due(plane.job) is
'Reason due: the job is scheduled, or in backoff, until later.';
