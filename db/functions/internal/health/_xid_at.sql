-- _xid_at: a transaction that had begun by a moment: that of the newest job created until then. So the age of other
-- transactions is known without a right to see their sessions. Ids rise with time: the job is found by halving.
create or replace function plane._xid_at(
    p_at timestamptz
)
    returns xid
    language plpgsql
    stable
as $$
declare
    v_low  bigint := 0;
    v_high bigint := coalesce(pg_sequence_last_value('plane.job_id_seq'), 0);
    v_xid  xid;
    v_id   bigint;
    v_at   timestamptz;
    v_by   xid;
begin
    while v_low <= v_high loop
        select j.id, j.created_at, j.xmin into v_id, v_at, v_by
        from plane.job j
        where j.id between v_low and v_low + (v_high - v_low) / 2
        order by j.id desc
        limit 1;
        if v_at <= p_at then
            v_xid := v_by;
        end if;
        if not found or v_at <= p_at then
            v_low := v_low + (v_high - v_low) / 2 + 1;
        else
            v_high := v_id - 1;
        end if;
    end loop;
    -- compared in circles, an id from long ago would look young
    return case when age(v_xid) between 0 and 1000000000 then v_xid end;
end;
$$;

revoke all on function plane._xid_at(timestamptz) from public;

comment on function plane._xid_at(timestamptz) is
'Transaction id of the newest job created until a moment; NULL where no job is as old. What is older was open then.';
