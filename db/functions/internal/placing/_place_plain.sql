-- _place_plain: stores a batch of jobs that say no more than an operation and its params. The caller has locked plane.ready.
create or replace function plane._place_plain(
    p_queue plane.queue,
    p_jobs  jsonb,
    p_ids   bigint[]
)
    returns void
    language plpgsql
    volatile
as $$
begin
    insert into plane.job (id, queue_id, priority, by_request, version, max_dequeues, created_at, available_at,
        operation, dedupe_key, serial_key, scope_key, params, envelope)
    select j.id, p_queue.id, 0, false, null, p_queue.max_dequeues, plane._now(), null,
        j.value ->> 'operation', null, null, null, coalesce(j.value -> 'params', '{}'), '{}'
    from (select unnest(p_ids) as id, jsonb_array_elements(p_jobs) as value) as j;
    insert into plane.ready (queue_id, lane, pos, job_id, dequeue_count, max_dequeues, fresh)
    select p_queue.id, plane._lane(0, false), j.id, j.id, 0, p_queue.max_dequeues, false
    from (select unnest(p_ids) as id) as j;
    if cardinality(p_ids) > 0 then
        perform plane._tell_ready(p_queue.id);
    end if;
end;
$$;

revoke all on function plane._place_plain(plane.queue, jsonb, bigint[]) from public;

comment on function plane._place_plain(plane.queue, jsonb, bigint[]) is
'Makes one ready job of each element, under the id in its place.';
