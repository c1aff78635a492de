-- _is_wanted: whether anybody wants the job of a request. Who asked for it first is not noted, so that asking writes no more:
-- he wants it until his two minutes are over, unless it is noted that he has left.
create or replace function plane._is_wanted(
    p_job plane.job
)
    returns boolean
    language plpgsql
    volatile
as $$
declare
    v_now      timestamptz := plane._now();
    v_is_noted boolean     := (
        select bool_or(w.state <> 'left' and w.deadline > v_now) from plane.waiter w where w.job_id = p_job.id);
begin
    if v_is_noted then
        return true;
    end if;
    if plane._interested_until(p_job.created_at) <= v_now then
        return false;
    end if;
    perform from plane.waiter w
    where w.job_id = p_job.id and w.waiter = plane._caller(p_job.envelope) and w.state = 'left';
    return not found;
end;
$$;

revoke all on function plane._is_wanted(plane.job) from public;

comment on function plane._is_wanted(plane.job) is
'Whether somebody waits for a job or wants it, as far as is committed.';
