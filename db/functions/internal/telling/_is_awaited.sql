-- _is_awaited: a NOTIFY takes one lock of the whole cluster at commit, so a queue with notify `waiters` spends it only
-- while somebody waits for the job. An older snapshot cannot see who has just come.
create or replace function plane._is_awaited(
    p_job_id bigint
)
    returns boolean
    language plpgsql
    volatile
as $$
begin
    perform from plane.waiter w where w.job_id = p_job_id and w.state = 'waits';
    return found or plane._sees_past();
end;
$$;

revoke all on function plane._is_awaited(bigint) from public;

comment on function plane._is_awaited(bigint) is
'Whether somebody may be waiting for news of a job.';
