-- _redrive: a poison job whose outcome the caller has taken away is live again. Its attempts go on counting, so that no
-- earlier one can ever settle it, and it may have as many more as it was given at first.
-- fresh, since the outcome does not say whether it was: a run of its own is right for either. Who redrives it wants it,
-- whoever leaves it.
create or replace function plane._redrive(
    p_job_id       bigint,
    p_attempt      integer,
    p_available_at timestamptz
)
    returns void
    language plpgsql
    volatile
as $$
declare
    v_job    plane.job;
    v_budget integer;
begin
    select j.* into v_job from plane.job j where j.id = p_job_id;
    v_budget := p_attempt + v_job.max_dequeues;
    if v_job.by_request then
        perform plane._keep_jobs(array[p_job_id]);
    end if;
    if p_available_at > plane._now() then
        insert into plane.due (job_id, queue_id, priority, available_at, reason, dequeue_count, max_dequeues, fresh)
        values (p_job_id, v_job.queue_id, v_job.priority, p_available_at, 'scheduled',
            p_attempt, v_budget, true);
    elsif v_job.serial_key is null then
        perform plane._make_ready(v_job.queue_id, p_job_id, v_job.priority, true,
            p_attempt, v_budget, true);
    else
        perform plane._join_line(v_job.queue_id, v_job.serial_key, p_job_id, v_job.priority,
            p_attempt, v_budget, true);
    end if;
end;
$$;

revoke all on function plane._redrive(bigint, integer, timestamptz) from public;

comment on function plane._redrive(bigint, integer, timestamptz) is
'Makes a job ready that was poison until now, at the end of its serial line if it has one, or due.';
