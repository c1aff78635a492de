-- register_worker: a worker says that it starts to serve a queue.
create or replace function plane.register_worker(
    p_worker text,
    p_queue  text,
    p_info   jsonb default '{}'
)
    returns interval
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $$
declare
    v_queue plane.queue := plane._queue_named(p_queue);
    v_now   timestamptz := plane._now();
begin
    if not plane._is_name(p_worker) then
        perform plane._refuse_worker(p_worker);
    end if;
    if jsonb_typeof(p_info) is distinct from 'object' then
        raise exception using
            errcode = 'PL422',
            message = 'info must be a JSON object',
            detail = format('info=%s', coalesce(jsonb_typeof(p_info), 'NULL')),
            hint = 'Say host, pid, version and the like, each under a name of its own.';
    end if;
    if pg_column_size(p_info) > 65536 then
        raise exception using
            errcode = 'PL413',
            message = 'info is limited to 64 KiB',
            detail = format('bytes=%s', pg_column_size(p_info)),
            hint = 'It is what people read beside the worker''s name.';
    end if;
    perform from plane.queue q where q.id = v_queue.id for key share;
    perform plane._check_not_dropped(v_queue);
    insert into plane.worker as w (name, queue_id, info, registered_at, seen_at)
    values (p_worker, v_queue.id, p_info, v_now, v_now)
    on conflict (name, queue_id) do update
    set info = excluded.info, asleep = false, registered_at = v_now, seen_at = v_now;
    return v_queue.lease;
end;
$$;

revoke all on function plane.register_worker(text, text, jsonb) from public;
grant execute on function plane.register_worker(text, text, jsonb) to plane_worker;

comment on function plane.register_worker(text, text, jsonb) is
'Note that a worker serves a queue, with what it says of itself; returns the queue''s lease (interval).
Raises 22023 a worker needs a name of 1 to 200 characters.
Raises PL404 no such queue.
Raises PL413 info is limited to 64 KiB.
Raises PL422 info must be a JSON object.
Role: plane_worker.';
