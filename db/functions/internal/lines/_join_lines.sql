-- _join_lines: due jobs of a batch join their serial lines, in the order of p_job_ids. Locks: the lines, by key.
create or replace function plane._join_lines(
    p_queue   plane.queue,
    p_job_ids bigint[]
)
    returns boolean
    language plpgsql
    volatile
as $$
declare
    v_has_head boolean := false;
    v_line     record;
begin
    for v_line in
        select distinct on (j.serial_key) j.serial_key, j.id
        from unnest(p_job_ids) with ordinality as a (job_id, ord)
        cross join lateral (select f.* from plane.job f where f.id = a.job_id offset 0) as j
        order by j.serial_key, a.ord
    loop
        if plane._hold_line(p_queue.id, v_line.serial_key, v_line.id) then
            v_has_head := true;
        end if;
    end loop;

    with joining as materialized (
        select j.id, j.serial_key, j.priority, j.max_dequeues,
            -- an old snapshot still shows the head that this one followed
            (select bool_or(l.job_id = j.id) from plane.line l where l.queue_id = p_queue.id and l.serial_key = j.serial_key) as is_head
        from unnest(p_job_ids) with ordinality as a (job_id, ord)
        cross join lateral (select f.* from plane.job f where f.id = a.job_id offset 0) as j
        order by a.ord
    ), headed as (
        insert into plane.ready (queue_id, lane, pos, job_id, dequeue_count, max_dequeues, fresh)
        select p_queue.id, plane._lane(n.priority, false), nextval('plane.job_id_seq'), n.id, 0, n.max_dequeues, false
        from joining n
        where n.is_head
    )
    insert into plane.waiting (queue_id, serial_key, pos, job_id, priority, dequeue_count, max_dequeues, fresh)
    select p_queue.id, n.serial_key, nextval('plane.job_id_seq'), n.id, n.priority, 0, n.max_dequeues, false
    from joining n
    where not n.is_head;
    return v_has_head;
end;
$$;

revoke all on function plane._join_lines(plane.queue, bigint[]) from public;

comment on function plane._join_lines(plane.queue, bigint[]) is
'Places new jobs in their serial lines; true when one is a head, and so ready.';
