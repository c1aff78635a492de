-- sweep: all that time does, for every queue: cheap, and safe from everywhere at once.
-- Claims do the same for their own queue; a sweep reaches queues that nobody claims from.
create or replace function plane.sweep(
    p_limit integer default 1000
)
    returns integer
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_sort = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $$
declare
    v_queue plane.queue;
    v_now   timestamptz := plane._now();
    v_moved integer;
    v_total integer     := 0;
begin
    if p_limit is null or p_limit not between 1 and 100000 then
        raise exception using
            errcode = '22023',
            message = 'a sweep moves 1 to 100000 jobs a queue',
            detail = format('limit=%s', coalesce(p_limit::text, 'NULL')),
            hint = 'Call it again for more.';
    end if;
    for v_queue in select q.* from plane.queue q order by q.id loop
        v_moved := plane._move_overdue(v_queue.id, v_now, null, p_limit);
        if v_moved > 0 then
            perform plane._tell_ready(v_queue.id);
        end if;
        v_total := v_total + v_moved;
    end loop;
    delete from plane.waiter w
    where w.ctid = any (array(
        select f.ctid from plane.waiter f where f.deadline < v_now order by f.deadline limit p_limit for update skip locked));
    return v_total;
end;
$$;

revoke all on function plane.sweep(integer) from public;
grant execute on function plane.sweep(integer)
    to plane_producer, plane_worker, plane_reader, plane_relay, plane_admin;

comment on function plane.sweep(integer) is
'Return lapsed leases, end what has spent its budget, make due jobs ready, hand on stalled lines, forget waiters past
their deadline; returns the number of jobs moved, at most p_limit a kind and queue. NOTIFY plane_ready and plane_done.
Any number may run at once.
Raises 22023 a sweep moves 1 to 100000 jobs a queue.
Role: plane_producer, plane_worker, plane_reader, plane_relay, plane_admin.';
