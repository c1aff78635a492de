-- _keep_jobs: an application, or whoever retries it, wants the job of a request for its own sake: nobody's leaving cancels it
-- any more. The note leaves with the job's range of ids. A transaction has a name of its own: no other waits for it.
create or replace function plane._keep_jobs(
    p_job_ids bigint[]
)
    returns void
    language plpgsql
    volatile
as $$
begin
    insert into plane.waiter (job_id, waiter, deadline, state)
    select a.id, 'kept by ' || pg_current_xact_id()::text, 'infinity', 'wants'
    from (select distinct u.id from unnest(p_job_ids) as u (id) order by u.id) as a
    cross join lateral (select from plane.job j where j.id = a.id and j.by_request offset 0) as j
    where (select bool_or(w.deadline = 'infinity') from plane.waiter w where w.job_id = a.id) is not true
    on conflict (job_id, waiter) do update
    set deadline = excluded.deadline;
end;
$$;

revoke all on function plane._keep_jobs(bigint[]) from public;

comment on function plane._keep_jobs(bigint[]) is
'Notes of those of these jobs that requests have asked for that somebody wants them who does not leave.';
