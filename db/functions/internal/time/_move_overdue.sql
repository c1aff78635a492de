-- _move_overdue: does for one queue what time has done: lapsed leases, jobs that became due, stalled lines.
-- p_since spares rows already looked at, dead ones above all; NULL looks at everything.
-- Rows that another session has locked are left to it. What has waited longest is moved first: a deletion alone
-- would return rows as they lie in the table.
create or replace function plane._move_overdue(
    p_queue_id integer,
    p_now      timestamptz,
    p_since    timestamptz,
    p_limit    integer
)
    returns integer
    language plpgsql
    volatile
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_sort = off
    set jit = off
as $$
declare
    v_since   timestamptz := coalesce(p_since, '-infinity');
    v_count   integer     := 0;
    v_lease   plane.lease;
    v_due     plane.due;
    v_stalled plane.stalled_line;
begin
    for v_lease in
        with gone as (
            delete from plane.lease l
            where l.ctid = any (array(
                select f.ctid
                from plane.lease f
                where f.queue_id = p_queue_id and f.expires_at > v_since and f.expires_at <= p_now
                order by f.expires_at
                limit p_limit
                for update skip locked))
            returning l.*
        )
        select g.* from gone g order by g.expires_at, g.job_id
    loop
        perform plane._give_up_lease(v_lease, 'lapsed',
            json_build_object('code', 'LEASE_LAPSED', 'message', 'the worker stopped renewing its lease', 'worker', v_lease.locked_by),
            v_lease.max_dequeues, null);
        v_count := v_count + 1;
    end loop;

    for v_due in
        with gone as (
            delete from plane.due d
            where d.ctid = any (array(
                select f.ctid
                from plane.due f
                where f.queue_id = p_queue_id and f.available_at > v_since and f.available_at <= p_now
                order by f.available_at
                limit p_limit
                for update skip locked))
            returning d.*
        )
        select g.* from gone g order by g.available_at, g.job_id
    loop
        perform plane._place_due(v_due);
        v_count := v_count + 1;
    end loop;

    for v_stalled in
        delete from plane.stalled_line s
        where s.ctid = any (array(
            select f.ctid
            from plane.stalled_line f
            join plane.line l on l.queue_id = f.queue_id and l.serial_key = f.serial_key and l.job_id = f.job_id
            where f.queue_id = p_queue_id
                -- an older snapshot cannot tell that nobody waits
                and (not plane._sees_past() or plane._is_followed(f.queue_id, f.serial_key))
            limit p_limit
            for update skip locked))
        returning s.*
    loop
        v_count := v_count + plane._hand_on_line(v_stalled.queue_id, v_stalled.serial_key, v_stalled.job_id)::integer;
    end loop;
    return v_count;
end;
$$;

revoke all on function plane._move_overdue(integer, timestamptz, timestamptz, integer) from public;

comment on function plane._move_overdue(integer, timestamptz, timestamptz, integer) is
'Moves the jobs of one queue whose lease lapsed or whose time has come, and hands on stalled lines; returns how many.';
