-- _free_key: a job gives its dedupe key up. A key that a fresh request is taking over is that request's: not waited for.
create or replace function plane._free_key(
    p_live_key uuid,
    p_job_id   bigint
)
    returns void
    language plpgsql
    volatile
as $$
begin
    delete from plane.live_key k
    where k.ctid = (
        select f.ctid
        from plane.live_key f
        where f.key = p_live_key and f.job_id = p_job_id
        for update skip locked);
end;
$$;

revoke all on function plane._free_key(uuid, bigint) from public;

comment on function plane._free_key(uuid, bigint) is
'Removes the dedupe key of a job, if the job still has it.';
