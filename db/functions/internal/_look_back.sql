-- _look_back: a claim's glance at what time has done, at most every 100 ms a session, or when asked for.
-- It looks from a second before its last glance on; every few seconds, and never for more than a hundredth of
-- the time, at everything: a lease or a due row may become visible long after its time.
create or replace function plane._look_back(
    p_queue   plane.queue,
    p_now     timestamptz,
    p_is_idle boolean
)
    returns integer
    language plpgsql
    volatile
    set search_path = pg_catalog, pg_temp
as $$
declare
    v_mark    text        := current_setting('plane.looked_' || p_queue.id, true);
    v_now_ms  bigint      := extract(epoch from p_now) * 1000;
    v_started timestamptz := clock_timestamp();
    v_looked  bigint;
    v_whole   bigint;
    v_count   integer;
begin
    -- looked at | next whole look at, both in ms
    if v_mark is null or v_mark !~ '^\d{1,15}\|\d{1,15}$' then
        v_mark := '0|0';
    end if;
    v_looked := split_part(v_mark, '|', 1)::bigint;
    v_whole := split_part(v_mark, '|', 2)::bigint;
    if not p_is_idle and v_now_ms between v_looked and v_looked + 99 then
        return 0;
    end if;

    if v_now_ms between v_whole - 600000 and v_whole and v_now_ms >= v_looked then
        v_count := plane._look_at_time(p_queue, p_now, to_timestamp(v_looked / 1000.0) - interval '1 second', 100);
    else
        v_count := plane._look_at_time(p_queue, p_now, null, 100);
        v_whole := v_now_ms
            + least(600000, greatest(5000, 100000 * extract(epoch from clock_timestamp() - v_started)))::bigint;
    end if;
    -- a look that found as much as it may move has not seen everything, nor has one by an older snapshot: the next one
    -- begins where this one did
    if v_count < 100 and current_setting('transaction_isolation') = 'read committed' then
        perform set_config('plane.looked_' || p_queue.id, concat_ws('|', v_now_ms, v_whole), false);
    end if;
    return v_count;
end;
$$;

revoke all on function plane._look_back(plane.queue, timestamptz, boolean) from public;

comment on function plane._look_back(plane.queue, timestamptz, boolean) is
'Looks at what time has done to a queue, when this session has not just done so; returns how many jobs moved.';
