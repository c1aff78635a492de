-- request_cancel: somebody asks that a job be stopped. Locks: the job's place (lease, ready, due or waiting), then what
-- every ending locks, none of it waited for.
create or replace function plane.request_cancel(
    p_job_id bigint,
    p_by     text
)
    returns text
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
    v_status text;
begin
    if not plane._is_name(p_by) then
        raise exception using
            errcode = '22023',
            message = 'a cancel names who asks for it, in 1 to 200 characters',
            detail = format('length=%s', coalesce(length(p_by)::text, 'NULL')),
            hint = 'It is kept with the job and shown to whoever asks why the job has no answer.';
    end if;
    v_status := plane._cancel(p_job_id, p_by);
    if v_status is null then
        perform plane._job(p_job_id);
    end if;
    return v_status;
end;
$$;

revoke all on function plane.request_cancel(bigint, text) from public;
grant execute on function plane.request_cancel(bigint, text) to plane_admin;

comment on function plane.request_cancel(bigint, text) is
'Ask that a job be stopped; returns its status then. A pending or waiting job is cancelled at once (NOTIFY plane_done).
A held one is cancelling: its worker is told (NOTIFY plane_cancel, whatever the queue''s notify), its dedupe key is
free, and it ends as cancelled, or as done if its answer comes first. A finished job stays what it is. p_by, who asks,
is kept in the outcome''s error.
Its worker''s heartbeat waits for the caller''s transaction: end that at once.
Raises 22023 a cancel names who asks for it, in 1 to 200 characters.
Raises PL404 no such job.
Role: plane_admin.';
