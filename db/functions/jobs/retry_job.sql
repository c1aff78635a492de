-- retry_job: a person has removed what made a job poison, and wants it done. Locks: queue (against plane.drop_queue), the
-- job (against plane.leave_job), outcome, dedupe key, serial key.
create or replace function plane.retry_job(
    p_job_id bigint
)
    returns bigint
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_sort = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $$
declare
    v_job     plane.job := plane._job(p_job_id);
    v_queue   plane.queue;
    v_live    bigint;
    v_attempt integer;
begin
    select q.* into v_queue from plane.queue q where q.id = v_job.queue_id for key share;
    if not found then
        raise exception using
            errcode = 'PL404',
            message = 'no such job',
            detail = format('job_id=%s', p_job_id),
            hint = 'Its queue has just been dropped with plane.drop_queue.';
    end if;
    -- whoever is just leaving it, and took it for live, may not cancel what is retried here
    perform plane._hold_jobs(array[p_job_id]);
    perform from plane.outcome o where o.job_id = p_job_id and o.status = 'poison' for update;
    if not found then
        raise exception using
            errcode = 'PL409',
            message = 'only a poison job can be retried',
            detail = format('job_id=%s', p_job_id),
            hint = 'Its status is in plane.jobs; to do something again that is done, enqueue it.';
    end if;
    if v_job.dedupe_key is not null then
        v_live := plane._take_key(plane._hash_key(v_job.queue_id, v_job.dedupe_key), p_job_id);
        if v_live <> p_job_id then
            return v_live;
        end if;
    end if;
    delete from plane.outcome o where o.job_id = p_job_id returning o.attempt into v_attempt;
    perform plane._redrive(p_job_id, v_attempt, null);
    perform plane._tell_ready(v_queue.id);
    return p_job_id;
end;
$$;

revoke all on function plane.retry_job(bigint) from public;
grant execute on function plane.retry_job(bigint) to plane_admin;

comment on function plane.retry_job(bigint) is
'Make a poison job pending again, with as many more attempts as it was given at first; returns its id. Its attempts so
far stay on record and its attempt number goes on growing. It joins the end of its serial line. Where another live job
has its dedupe key, that job is the answer: its id is returned, and this one stays poison. A request that is retried is
no longer cancelled by who leaves it. NOTIFY plane_ready.
Raises PL404 no such job.
Raises PL409 only a poison job can be retried.
Role: plane_admin.';
