-- _floors: for each lane of a queue, a position below which no ready row can be, as this session knows it.
-- Claims scan from there, so that dead rows which a pinned vacuum horizon keeps are not walked again and again.
-- The memory is a custom setting: it follows rollbacks and savepoints, which a table or a sequence would not.
create or replace function plane._floors(
    p_queue_id integer,
    p_lanes    integer[],
    p_now      timestamptz
)
    returns bigint[]
    language plpgsql
    volatile
as $$
declare
    v_mark   text     := plane._recall('plane.floors_' || p_queue_id);
    v_floors bigint[] := split_part(v_mark, '|', 1)::bigint[];
begin
    -- floors | moved at | next whole scan (both in ms) | last position then drawn | who then held the lock
    if cardinality(v_floors) = cardinality(p_lanes)
        and abs(extract(epoch from p_now) * 1000 - split_part(v_mark, '|', 2)::bigint) < 1000
    then
        return v_floors;
    end if;
    return plane._advance_floors(p_queue_id, p_lanes, p_now, v_mark);
end;
$$;

revoke all on function plane._floors(integer, integer[], timestamptz) from public;

comment on function plane._floors(integer, integer[], timestamptz) is
'The scan floor of each lane of the queue, in the order of its lanes; moved at most once a second.';
