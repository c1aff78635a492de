-- _live_job: the live job of a dedupe key. One that was asked to stop has it no more. A key whose taker rolled back
-- after its job had ended, or had been asked to stop, is put right here; not if that job has been retried meanwhile.
-- Where the snapshot is older, its key may have been freed since: then it could be inserted, and cannot be locked.
-- The lease is asked by a scalar: PostgreSQL 18 would read the whole of it for EXISTS while it looks small.
create or replace function plane._live_job(
    p_key uuid
)
    returns bigint
    language plpgsql
    volatile
as $$
declare
    v_job_id   bigint;
    v_is_free  boolean;
begin
    select k.job_id,
        exists (select from plane.outcome o where o.job_id = k.job_id)
            or (select l.cancelled_by from plane.lease l where l.job_id = k.job_id) is not null
    into v_job_id, v_is_free
    from plane.live_key k
    where k.key = p_key;
    if v_is_free then
        delete from plane.live_key k
        where k.key = p_key and k.job_id = v_job_id
            and (exists (select from plane.outcome o where o.job_id = k.job_id)
                or (select l.cancelled_by from plane.lease l where l.job_id = k.job_id) is not null);
        return null;
    end if;
    if plane._sees_past() and v_job_id is not null then
        insert into plane.live_key (key, job_id) values (p_key, v_job_id) on conflict (key) do nothing;
        if found then
            perform from plane.live_key k where k.key = p_key for key share;
        end if;
    end if;
    return v_job_id;
end;
$$;

revoke all on function plane._live_job(uuid) from public;

comment on function plane._live_job(uuid) is
'Id of the live job of this key; NULL for none.';
