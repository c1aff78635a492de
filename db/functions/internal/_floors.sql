-- _floors: for each lane of a queue, a position below which no ready row can be, as this session knows it.
-- Claims scan from there, so that dead rows which a pinned vacuum horizon keeps are not walked again and again.
-- The memory is a custom setting: it follows rollbacks and savepoints, which a table or a sequence would not.
create or replace function plane._floors(
    p_queue plane.queue,
    p_now   timestamptz
)
    returns bigint[]
    language plpgsql
    volatile
    set search_path = pg_catalog, pg_temp
as $$
declare
    v_mark   text     := current_setting('plane.floors_' || p_queue.id, true);
    v_floors bigint[] := array_fill(0::bigint, array[cardinality(p_queue.lanes)]);
begin
    -- moved at | next whole scan at (both in ms) | last position then drawn | who then held the lock | floors
    if v_mark !~ '^\d{1,15}\|\d{1,15}\|\d{1,18}\|[0-9/,-]*\|\{\d{1,18}(,\d{1,18})*\}$' then
        v_mark := null;
    end if;
    if cardinality(split_part(v_mark, '|', 5)::bigint[]) = cardinality(v_floors) then
        v_floors := split_part(v_mark, '|', 5)::bigint[];
    else
        v_mark := null;
    end if;
    if abs(extract(epoch from p_now) * 1000 - coalesce(split_part(v_mark, '|', 1)::bigint, 0)) < 1000 then
        return v_floors;
    end if;
    return plane._advance_floors(p_queue, p_now, coalesce(v_mark, '0|0|0||' || v_floors::text));
end;
$$;

revoke all on function plane._floors(plane.queue, timestamptz) from public;

comment on function plane._floors(plane.queue, timestamptz) is
'The scan floor of each lane of the queue, in the order of its lanes; moved at most once a second.';
