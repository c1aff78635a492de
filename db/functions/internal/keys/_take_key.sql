-- _take_key: a job that ended wants its dedupe key back. Who is inserting it meanwhile is waited for.
create or replace function plane._take_key(
    p_live_key uuid,
    p_job_id   bigint
)
    returns bigint
    language plpgsql
    volatile
as $$
declare
    v_live bigint;
begin
    loop
        insert into plane.live_key (key, job_id) values (p_live_key, p_job_id) on conflict (key) do nothing;
        exit when found;
        v_live := plane._live_job(p_live_key);
        if v_live is not null then
            return v_live;
        end if;
    end loop;
    return p_job_id;
end;
$$;

revoke all on function plane._take_key(uuid, bigint) from public;

comment on function plane._take_key(uuid, bigint) is
'Gives a dedupe key to a job, unless another live job has it; returns the job that has it.';
