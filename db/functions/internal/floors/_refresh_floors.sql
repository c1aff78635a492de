-- _refresh_floors: what a claim does once in a tenth of a second a session and queue: it moves the scan floors where there is
-- proof, glances at what time has done, and notes the floors for the claims that follow.
create or replace function plane._refresh_floors(
    p_queue_id integer,
    p_lanes    integer[],
    p_now      timestamptz
)
    returns bigint[]
    language plpgsql
    volatile
as $$
declare
    -- first, since they move only in a transaction that has not written
    v_floors bigint[] := plane._floors(p_queue_id, p_lanes, p_now);
begin
    perform plane._move_overdue_since(p_queue_id, p_now);
    perform set_config('plane.claims_' || p_queue_id,
        plane._floor_signature(v_floors::text, p_lanes, p_now) || '#' || v_floors::text, false);
    return v_floors;
end;
$$;

revoke all on function plane._refresh_floors(integer, integer[], timestamptz) from public;

comment on function plane._refresh_floors(integer, integer[], timestamptz) is
'Moves jobs whose time has come, and returns the scan floor of each lane, which _known_floors then knows for a moment.';
