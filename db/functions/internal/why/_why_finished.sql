-- _why_finished: it has ended, and how.
create or replace function plane._why_finished(
    p_job plane.job
)
    returns table (reason text, says text, evidence jsonb)
    language sql
    stable
as $$
    select 'finished',
        format('it is %s since %s, after %s of %s attempts', o.status, o.finished_at, o.attempt, o.max_dequeues),
        jsonb_strip_nulls(jsonb_build_object('status', o.status, 'finished_at', o.finished_at, 'attempt', o.attempt,
            'max_dequeues', o.max_dequeues, 'worker', o.locked_by, 'error', left(o.error::text, 1000)))
    from plane.outcome o
    where o.job_id = p_job.id;
$$;

revoke all on function plane._why_finished(plane.job) from public;

comment on function plane._why_finished(plane.job) is
'Reason finished: the job is done, poison or cancelled.';
