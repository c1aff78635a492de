-- _end: writes the outcome of a job that is given up and does what every ending does.
create or replace function plane._end(
    p_lease    plane.lease,
    p_status   text,
    p_result   json,
    p_error    json,
    p_replaced boolean
)
    returns void
    language plpgsql
    volatile
as $$
begin
    insert into plane.outcome (job_id, attempt, max_dequeues, claimed_at, finished_at, replaced, status,
        locked_by, result, error)
    values (p_lease.job_id, p_lease.attempt, p_lease.max_dequeues, p_lease.claimed_at, plane._now(),
        p_replaced, p_status, p_lease.locked_by, p_result, p_error);
    perform plane._finish(p_lease.queue_id, p_lease.job_id, p_lease.claimed_at, p_lease.live_key, p_lease.serial_key, q.notify)
    from plane.queue q
    where q.id = p_lease.queue_id;
end;
$$;

revoke all on function plane._end(plane.lease, text, json, json, boolean) from public;

comment on function plane._end(plane.lease, text, json, json, boolean) is
'Ends a job that has just been taken out of its place, as poison or cancelled.';
