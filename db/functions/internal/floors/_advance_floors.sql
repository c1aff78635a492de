-- _advance_floors: moves this session's scan floors, on proof alone.
-- Who inserts into plane.ready locks it before drawing a position. So: note the last position drawn, then who
-- holds that lock; once all of those are gone, every position up to the noted one is visible or never will be.
create or replace function plane._advance_floors(
    p_queue_id integer,
    p_lanes    integer[],
    p_now      timestamptz,
    p_mark     text
)
    returns bigint[]
    language plpgsql
    volatile
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $$
declare
    v_nowhere   bigint[]  := array_fill(0::bigint, array[cardinality(p_lanes)]);
    v_is_known  boolean   := coalesce(cardinality(split_part(p_mark, '|', 1)::bigint[]) = cardinality(p_lanes), false);
    v_mark      text      := case when v_is_known then p_mark else v_nowhere::text || '|0|0|0|' end;
    v_floors    bigint[]  := split_part(v_mark, '|', 1)::bigint[];
    v_whole     bigint    := split_part(v_mark, '|', 3)::bigint;
    v_noted     bigint    := split_part(v_mark, '|', 4)::bigint;
    v_held      text[]    := string_to_array(split_part(v_mark, '|', 5), ',');
    v_now_ms    bigint    := extract(epoch from p_now) * 1000;
    v_is_whole  boolean   := v_now_ms not between v_whole - 600000 and v_whole;
    v_drawn     bigint    := coalesce(pg_sequence_last_value('plane.job_id_seq'), 0);
    v_started   timestamptz := clock_timestamp();
    v_is_proven boolean;
    v_least     bigint;
begin
    if v_drawn + 1 < any (v_floors) or v_noted > v_drawn then
        -- beyond every position drawn: not of our making
        v_floors := v_nowhere;
        v_noted := 0;
    end if;
    -- Only under READ COMMITTED, where each statement sees anew, and only in a transaction that has not written:
    -- one that has claimed sees its own deletion, which may yet be rolled back. Any other goes by the floors it
    -- knows, until a whole scan is due.
    if plane._sees_past() or pg_current_xact_id_if_assigned() is not null then
        return case when v_is_whole then v_nowhere else v_floors end;
    end if;

    v_is_proven := not v_held && plane._ready_writers();
    if v_is_proven or v_is_whole then
        for v_i in 1 .. cardinality(v_floors) loop
            -- without SKIP LOCKED: a row that an open claim has deleted may come back
            select r.pos into v_least
            from plane.ready r
            where r.queue_id = p_queue_id and r.lane = p_lanes[v_i]
                and r.pos >= case when v_is_whole then 0 else v_floors[v_i] end
            order by r.pos
            limit 1;
            v_floors[v_i] := least(v_least, case when v_is_proven then v_noted + 1 else v_floors[v_i] end);
        end loop;
    end if;
    if v_is_whole then
        -- the guarantee against a floor that somebody else set; never more than a hundredth of the time
        v_whole := v_now_ms
            + least(600000, greatest(5000, 100000 * extract(epoch from clock_timestamp() - v_started)))::bigint;
    end if;
    if v_is_proven then
        v_noted := coalesce(pg_sequence_last_value('plane.job_id_seq'), 0);
        v_held := plane._ready_writers();
    end if;

    perform plane._remember('plane.floors_' || p_queue_id,
        concat_ws('|', v_floors::text, v_now_ms, v_whole, v_noted, array_to_string(v_held, ',')));
    return v_floors;
end;
$$;

revoke all on function plane._advance_floors(integer, integer[], timestamptz, text) from public;

comment on function plane._advance_floors(integer, integer[], timestamptz, text) is
'Moves the scan floors of this session as far as proof allows and notes the next proof; returns the floors.';
