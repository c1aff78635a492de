-- _open_lanes: makes claims look at a priority from now on. A lane stays open: it costs a claim one index probe.
create or replace function plane._open_lanes(
    p_queue_id integer,
    p_priority integer
)
    returns void
    language sql
    volatile
    set search_path = pg_catalog, pg_temp
as $$
    update plane.queue q
    set lanes = array(
        select distinct l.lane
        from unnest(q.lanes || plane._lane(p_priority, true) || plane._lane(p_priority, false)) as l (lane)
        order by l.lane)
    where q.id = p_queue_id and not q.lanes @> array[plane._lane(p_priority, true)];
$$;

revoke all on function plane._open_lanes(integer, integer) from public;

comment on function plane._open_lanes(integer, integer) is
'Adds both lanes of a priority to the queue, in claiming order.';
