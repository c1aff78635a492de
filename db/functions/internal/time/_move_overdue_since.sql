-- _move_overdue_since: a claim's glance at what time has done to its queue, from a quarter of a second before its last
-- glance on: under a pinned horizon, each dead lease of that time is looked at. Every few seconds, and never for more than
-- a hundredth of the time, at everything: a lease or a due row may become visible long after its time.
create or replace function plane._move_overdue_since(
    p_queue_id integer,
    p_now      timestamptz
)
    returns integer
    language plpgsql
    volatile
as $$
declare
    v_mark    text        := plane._recall('plane.looked_' || p_queue_id);
    v_now_ms  bigint      := extract(epoch from p_now) * 1000;
    v_started timestamptz := clock_timestamp();
    v_looked  bigint      := coalesce(split_part(v_mark, '|', 1), '0')::bigint;
    v_whole   bigint      := coalesce(split_part(v_mark, '|', 2), '0')::bigint;
    v_count   integer;
begin
    -- looked at | next whole look at, both in ms
    if v_now_ms between v_whole - 600000 and v_whole and v_now_ms >= v_looked then
        v_count := plane._move_overdue(p_queue_id, p_now, to_timestamp(v_looked / 1000.0) - interval '250 ms', 100);
    else
        v_count := plane._move_overdue(p_queue_id, p_now, null, 100);
        v_whole := v_now_ms
            + least(600000, greatest(5000, 100000 * extract(epoch from clock_timestamp() - v_started)))::bigint;
    end if;
    -- a look that found as much as it may move has not seen everything, nor has one by an older snapshot: the next one
    -- begins where this one did
    if v_count < 100 and not plane._sees_past() then
        perform plane._remember('plane.looked_' || p_queue_id, concat_ws('|', v_now_ms, v_whole));
    end if;
    return v_count;
end;
$$;

revoke all on function plane._move_overdue_since(integer, timestamptz) from public;

comment on function plane._move_overdue_since(integer, timestamptz) is
'Looks at what time has done to a queue since this session last looked; returns how many jobs moved.';
