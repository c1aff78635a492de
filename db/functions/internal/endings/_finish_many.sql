-- _finish_many: _finish for a batch. No lock is waited for, as there.
create or replace function plane._finish_many(
    p_leases plane.lease[]
)
    returns void
    language plpgsql
    volatile
as $$
declare
    v_keys  uuid[];
    v_ids   bigint[];
    v_lines boolean;
    v_lease plane.lease;
begin
    select array_agg(l.live_key) filter (where l.live_key is not null),
        array_agg(l.job_id) filter (where l.live_key is not null),
        bool_or(l.serial_key is not null)
    into v_keys, v_ids, v_lines
    from unnest(p_leases) as l;
    if v_keys is not null then
        delete from plane.live_key k
        where k.ctid = any (array(
            select f.ctid
            from unnest(v_keys, v_ids) as a (key, job_id)
            cross join lateral (
                select f.ctid from plane.live_key f where f.key = a.key and f.job_id = a.job_id for update skip locked) as f));
    end if;
    if v_lines then
        for v_lease in
            select l.* from unnest(p_leases) as l where l.serial_key is not null order by l.queue_id, l.serial_key
        loop
            perform plane._hand_on_line(v_lease.queue_id, v_lease.serial_key, v_lease.job_id);
        end loop;
    end if;
    perform plane._tell_done_many(p_leases);
end;
$$;

revoke all on function plane._finish_many(plane.lease[]) from public;

comment on function plane._finish_many(plane.lease[]) is
'Frees the dedupe keys, hands on the serial lines and tells whoever waits, for jobs whose leases are gone.';
