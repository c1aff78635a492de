-- _job: the row of a job, or a clear error.
create or replace function plane._job(
    p_job_id bigint
)
    returns plane.job
    language plpgsql
    stable
as $$
declare
    v_job plane.job;
begin
    select j.* into v_job from plane.job j where j.id = p_job_id;
    if not found then
        raise exception using
            errcode = 'PL404',
            message = 'no such job',
            detail = format('job_id=%s', coalesce(p_job_id::text, 'NULL')),
            hint = 'Look it up in plane.jobs; finished jobs leave after the retention of their queue.';
    end if;
    return v_job;
end;
$$;

revoke all on function plane._job(bigint) from public;

comment on function plane._job(bigint) is
'The row of the job of this id.
Raises PL404 no such job.';
