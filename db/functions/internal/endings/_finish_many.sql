-- _finish_many: _finish for a batch, its arrays by job. No lock is waited for, as there.
create or replace function plane._finish_many(
    p_queue_ids   integer[],
    p_job_ids     bigint[],
    p_live_keys   uuid[],
    p_serial_keys text[],
    p_is_new      boolean
)
    returns void
    language plpgsql
    volatile
as $$
declare
    v_head record;
begin
    if array_remove(p_live_keys, null) <> '{}' then
        delete from plane.live_key k
        where k.ctid = any (array(
            select f.ctid
            from unnest(p_live_keys, p_job_ids) as a (key, job_id)
            cross join lateral (
                select f.ctid from plane.live_key f where f.key = a.key and f.job_id = a.job_id for update skip locked) as f));
    end if;
    if array_remove(p_serial_keys, null) <> '{}' then
        for v_head in
            select a.queue_id, a.serial_key, a.job_id
            from unnest(p_queue_ids, p_serial_keys, p_job_ids) as a (queue_id, serial_key, job_id)
            where a.serial_key is not null
            order by a.queue_id, a.serial_key
        loop
            perform plane._hand_on_line(v_head.queue_id, v_head.serial_key, v_head.job_id);
        end loop;
    end if;
    perform plane._tell_done_many(p_queue_ids, p_job_ids, p_is_new);
end;
$$;

revoke all on function plane._finish_many(integer[], bigint[], uuid[], text[], boolean) from public;

comment on function plane._finish_many(integer[], bigint[], uuid[], text[], boolean) is
'Frees the dedupe keys, hands on the serial lines and tells whoever waits, for jobs whose leases are gone.
p_is_new: some have been claimed since this transaction began.';
