-- _open_priority: makes claims look at a priority from now on, and says which one a job really gets.
-- Each costs every claim two index probes for ever, so a queue opens 32 of them at most: after that a job goes with
-- the nearest less urgent one that is open, or the least urgent. Locks the queue's row, the first time only.
create or replace function plane._open_priority(
    p_queue    plane.queue,
    p_priority integer
)
    returns integer
    language plpgsql
    volatile
as $$
declare
    v_lanes integer[] := p_queue.lanes;
begin
    if v_lanes @> array[plane._lane(p_priority, false)] then
        return p_priority;
    end if;
    update plane.queue q
    set lanes = array(
        select distinct l.lane
        from unnest(q.lanes || plane._lane(p_priority, true) || plane._lane(p_priority, false)) as l (lane)
        order by l.lane)
    where q.id = p_queue.id and cardinality(q.lanes) < 64 and not q.lanes @> array[plane._lane(p_priority, false)];
    perform plane._check_not_dropped(p_queue);
    v_lanes := (select q.lanes from plane.queue q where q.id = p_queue.id);
    return coalesce(
        (select min(l.lane >> 1) from unnest(v_lanes) as l (lane) where l.lane >> 1 >= p_priority),
        v_lanes[cardinality(v_lanes)] >> 1);
end;
$$;

revoke all on function plane._open_priority(plane.queue, integer) from public;

comment on function plane._open_priority(plane.queue, integer) is
'Opens both lanes of a priority, unless the queue has 32 priorities already; returns the priority to use.
Raises PL404 no such queue.';
