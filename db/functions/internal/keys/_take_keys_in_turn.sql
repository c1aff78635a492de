-- _take_keys_in_turn: as _take_keys, each key settled before the next one is touched.
create or replace function plane._take_keys_in_turn(
    p_keys        uuid[],
    p_ids         bigint[],
    p_has_request boolean
)
    returns bigint[]
    language plpgsql
    volatile
as $$
declare
    v_ids bigint[] := p_ids;
begin
    for v_i in 1 .. cardinality(p_keys) loop
        loop
            v_ids[v_i] := plane._live_job(p_keys[v_i]);
            if v_ids[v_i] is null then
                insert into plane.live_key (key, job_id) values (p_keys[v_i], p_ids[v_i])
                on conflict (key) do nothing;
            else
                exit when not p_has_request or not plane._hold_jobs(array[v_ids[v_i]])
                    or plane._live_job(p_keys[v_i]) = v_ids[v_i];
            end if;
        end loop;
    end loop;
    return v_ids;
end;
$$;

revoke all on function plane._take_keys_in_turn(uuid[], bigint[], boolean) from public;

comment on function plane._take_keys_in_turn(uuid[], bigint[], boolean) is
'As _take_keys, one key after the other.';
