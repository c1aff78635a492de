-- _expire_keys: dedupe keys that a taker who rolled back has left to a job that had ended. They go before their job does,
-- or it would be taken for live.
create or replace function plane._expire_keys(
    p_lower bigint,
    p_upper bigint
)
    returns boolean
    language plpgsql
    volatile
    set enable_seqscan = off
    set jit = off
as $$
begin
    delete from plane.live_key k
    where k.ctid = any (array(
        select f.ctid
        from plane.live_key f
        where f.job_id >= p_lower and f.job_id < p_upper
            and (exists (select from plane.outcome o where o.job_id = f.job_id)
                or not exists (select from plane.job j where j.id = f.job_id))
        for update skip locked));
    perform from plane.live_key k
    where k.job_id >= p_lower and k.job_id < p_upper
        and (exists (select from plane.outcome o where o.job_id = k.job_id)
            or not exists (select from plane.job j where j.id = k.job_id));
    return not found;
end;
$$;

revoke all on function plane._expire_keys(bigint, bigint) from public;

comment on function plane._expire_keys(bigint, bigint) is
'Removes dedupe keys of ended jobs with ids from p_lower to below p_upper; false: somebody has one locked.';
