-- _place_many: stores a batch of jobs of any kind, each under its own id unless a live job has its dedupe key. The caller
-- has locked plane.ready. Locks: the queue's row for a priority that is new to it, dedupe keys in sorted order, the jobs of
-- requests that are joined, serial keys in sorted order.
create or replace function plane._place_many(
    p_queue   plane.queue,
    p_jobs    jsonb,
    p_own_ids bigint[]
)
    returns bigint[]
    language plpgsql
    volatile
as $$
declare
    v_now      timestamptz := plane._now();
    v_ids      bigint[]    := p_own_ids;
    v_asked    integer[];
    v_given    integer[];
    v_is_ready boolean;
begin
    if p_jobs @? '$[*].priority' then
        v_asked := array(
            select distinct (e.value ->> 'priority')::numeric::integer
            from jsonb_array_elements(p_jobs) as e (value)
            where e.value ? 'priority');
        v_given := array(select plane._open_priority(p_queue, a.priority) from unnest(v_asked) as a (priority));
    end if;

    if p_jobs @? '$[*].dedupe_key' then
        v_ids := plane._take_batch_keys(p_queue, p_jobs, p_own_ids);
    end if;
    if p_queue.max_depth is not null then
        perform plane._check_depth(p_queue, sum((o.id = o.own_id)::integer)::integer)
        from unnest(v_ids, p_own_ids) as o (id, own_id)
        having bool_or(o.id = o.own_id);
    end if;

    with made as (
        insert into plane.job (id, queue_id, priority, by_request, version, max_dequeues, created_at, available_at,
            operation, dedupe_key, serial_key, scope_key, params, envelope)
        select v_ids[e.ord], p_queue.id,
            case
                when e.value ? 'priority' then v_given[array_position(v_asked, (e.value ->> 'priority')::numeric::integer)]
                else 0
            end,
            false, (e.value ->> 'version')::numeric::integer,
            coalesce((e.value ->> 'max_dequeues')::numeric::integer, p_queue.max_dequeues), v_now,
            case when (e.value ->> 'available_at')::timestamptz > v_now then (e.value ->> 'available_at')::timestamptz end,
            e.value ->> 'operation', e.value ->> 'dedupe_key', e.value ->> 'serial_key', null,
            coalesce(e.value -> 'params', '{}'), coalesce(e.value -> 'envelope', '{}')
        from jsonb_array_elements(p_jobs) with ordinality as e (value, ord)
        where v_ids[e.ord] = p_own_ids[e.ord]
        returning id, priority, max_dequeues, serial_key, available_at
    )
    insert into plane.ready (queue_id, lane, pos, job_id, dequeue_count, max_dequeues, fresh)
    select p_queue.id, plane._lane(m.priority, false), m.id, m.id, 0, m.max_dequeues, false
    from made m
    where m.serial_key is null and m.available_at is null;
    v_is_ready := found;
    if p_jobs @? '$[*].available_at' then
        insert into plane.due (job_id, queue_id, priority, available_at, reason, dequeue_count, max_dequeues, fresh)
        select j.id, p_queue.id, j.priority, j.available_at, 'scheduled', 0, j.max_dequeues, false
        from unnest(v_ids, p_own_ids) as o (id, own_id)
        cross join lateral (select f.* from plane.job f where f.id = o.id offset 0) as j
        where o.id = o.own_id and j.available_at is not null;
    end if;
    if p_jobs @? '$[*].serial_key' then
        v_is_ready := plane._join_lines(p_queue, array(
            select j.id
            from unnest(v_ids, p_own_ids) as o (id, own_id)
            cross join lateral (select f.* from plane.job f where f.id = o.id offset 0) as j
            where o.id = o.own_id and j.serial_key is not null and j.available_at is null
            order by j.id)) or v_is_ready;
    end if;
    if v_is_ready then
        perform plane._tell_ready(p_queue.id);
    end if;
    if v_ids <> p_own_ids then
        perform plane._pull_forward_many(p_queue, p_jobs, v_ids, p_own_ids);
    end if;
    return v_ids;
end;
$$;

revoke all on function plane._place_many(plane.queue, jsonb, bigint[]) from public;

comment on function plane._place_many(plane.queue, jsonb, bigint[]) is
'Makes one job of each element, or finds the live one of its dedupe key; returns their ids, in their order.
Raises PL404 no such queue.
Raises PL429 the queue is full.';
