-- _cancel: a job is to stop. Locks: the job's place (lease, ready, due or waiting), then what every ending locks, none of it
-- waited for. A job under way from one place to another is looked for again.
create or replace function plane._cancel(
    p_job_id bigint,
    p_by     text
)
    returns text
    language plpgsql
    volatile
as $$
declare
    v_job    plane.job;
    v_lease  plane.lease;
    v_status text;
begin
    loop
        -- looked up each time: its queue may be dropped meanwhile
        select j.* into v_job from plane.job j where j.id = p_job_id;
        if not found then
            return null;
        end if;
        update plane.lease l
        set cancelled_by = p_by
        where l.job_id = p_job_id and l.cancelled_by is null
        returning l.* into v_lease;
        if found then
            perform plane._free_key(v_lease.live_key, p_job_id);
            perform pg_notify('plane_cancel', p_job_id::text);
            return 'cancelling';
        end if;
        perform from plane.lease l where l.job_id = p_job_id and l.cancelled_by is not null;
        if found then
            return 'cancelling';
        end if;

        v_lease := plane._pull_out(v_job);
        if v_lease.job_id is not null then
            perform plane._end(v_lease, 'cancelled', null, plane._cancelled(p_by), false);
            -- who has just begun to wait could not be seen, and found no lease to wait for
            perform pg_notify('plane_done', p_job_id::text)
            from plane.queue q
            where q.id = v_job.queue_id and q.notify = 'waiters';
            return 'cancelled';
        end if;

        -- locked: poison may be retried meanwhile, and is then looked for again
        select o.status into v_status from plane.outcome o where o.job_id = p_job_id for key share;
        exit when found;
    end loop;
    return v_status;
end;
$$;

revoke all on function plane._cancel(bigint, text) from public;

comment on function plane._cancel(bigint, text) is
'Cancels a job, or asks who holds it to stop; returns its status then, NULL where there is no such job.';
