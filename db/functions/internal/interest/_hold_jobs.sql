-- _hold_jobs: who joins the job of a request holds it until his transaction ends: whoever leaves it meanwhile does not
-- cancel it. Locks: the jobs, FOR KEY SHARE; whoever is just cancelling one so is waited for, and the caller looks again.
create or replace function plane._hold_jobs(
    p_job_ids bigint[]
)
    returns boolean
    language plpgsql
    volatile
as $$
begin
    perform from (select distinct u.id from unnest(p_job_ids) as u (id) order by u.id) as a
    cross join lateral (select from plane.job j where j.id = a.id and j.by_request for key share) as j;
    return found;
end;
$$;

revoke all on function plane._hold_jobs(bigint[]) from public;

comment on function plane._hold_jobs(bigint[]) is
'Holds those of these jobs that requests have asked for; whether there are any.';
