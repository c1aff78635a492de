-- _give_up_lease: what becomes of a job whose attempt ended without an answer, the lease being removed already.
-- p_budget is the number of claims the job may have from now on; p_retry_in NULL asks for no pause.
create or replace function plane._give_up_lease(
    p_lease    plane.lease,
    p_outcome  text,
    p_error    json,
    p_budget   integer,
    p_retry_in interval
)
    returns text
    language plpgsql
    volatile
as $$
declare
    v_now      timestamptz := plane._now();
    v_error    json        := plane._storable(p_error);
    v_replaced boolean     := coalesce(v_error::text <> p_error::text, false);
begin
    insert into plane.attempt (job_id, attempt, claimed_at, ended_at, replaced, outcome, locked_by, error)
    values (p_lease.job_id, p_lease.attempt, p_lease.claimed_at, v_now, v_replaced, p_outcome, p_lease.locked_by, v_error);

    if p_lease.cancelled_by is not null then
        perform plane._end(p_lease, 'cancelled', null, plane._cancelled(p_lease.cancelled_by), false);
        return 'cancelled';
    end if;
    if p_lease.attempt >= p_budget then
        perform plane._end(p_lease, 'poison', null, v_error, v_replaced);
        return 'poison';
    end if;

    if p_retry_in > interval '0' then
        insert into plane.due (job_id, queue_id, priority, available_at, reason, dequeue_count, max_dequeues, fresh)
        values (p_lease.job_id, p_lease.queue_id, p_lease.priority, v_now + p_retry_in, 'backoff',
            p_lease.attempt, p_budget, p_lease.fresh);
    else
        perform plane._make_ready(p_lease.queue_id, p_lease.job_id, p_lease.priority, true,
            p_lease.attempt, p_budget, p_lease.fresh);
        perform plane._tell_ready(p_lease.queue_id);
    end if;
    return 'pending';
end;
$$;

revoke all on function plane._give_up_lease(plane.lease, text, json, integer, interval) from public;

comment on function plane._give_up_lease(plane.lease, text, json, integer, interval) is
'Notes the attempt and sends its job back to pending, or to poison or cancelled; returns which.';
