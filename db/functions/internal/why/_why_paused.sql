-- _why_paused: its queue hands out nothing.
create or replace function plane._why_paused(
    p_job plane.job
)
    returns table (reason text, says text, evidence jsonb)
    language sql
    stable
as $$
    select 'paused', format('queue %s is paused since %s', q.name, q.paused_at),
        jsonb_build_object('queue', q.name, 'paused_at', q.paused_at)
    from plane.queue q
    where q.id = p_job.queue_id and q.paused_at is not null;
$$;

revoke all on function plane._why_paused(plane.job) from public;

comment on function plane._why_paused(plane.job) is
'Reason paused: the queue of the job is.';
