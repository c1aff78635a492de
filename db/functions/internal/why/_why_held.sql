-- _why_held: an attempt holds it. A lease that has lapsed holds nothing: it is as good as ready.
create or replace function plane._why_held(
    p_job plane.job
)
    returns table (reason text, says text, evidence jsonb)
    language sql
    stable
as $$
    select case when l.cancelled_by is null then 'running' else 'cancelling' end,
        concat('held by ', l.locked_by, ' until ', l.expires_at, ', asked to stop by ' || l.cancelled_by),
        jsonb_strip_nulls(jsonb_build_object('worker', l.locked_by, 'attempt', l.attempt, 'max_dequeues', l.max_dequeues,
            'claimed_at', l.claimed_at, 'lease_expires_at', l.expires_at, 'cancelled_by', l.cancelled_by, 'progress', (
                select jsonb_build_object('done', p.done, 'total', p.total, 'message', p.message)
                from plane.progress p
                where p.job_id = l.job_id and p.attempt = l.attempt
                order by p.number desc
                limit 1)))
    from plane.lease l
    where l.job_id = p_job.id and l.expires_at > plane._now();
$$;

revoke all on function plane._why_held(plane.job) from public;

comment on function plane._why_held(plane.job) is
'Reason running or cancelling: an attempt holds the job, and its lease has not lapsed.';
