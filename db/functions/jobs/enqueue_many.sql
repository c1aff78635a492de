-- enqueue_many: enqueue for thousands at once; all of them or none.
-- Locks: plane.ready before the queue is read and a position is drawn, the queue's row for a priority that is new to it,
-- dedupe keys in sorted order, serial keys in sorted order. An element that repeats a key of the batch joins the first one's job.
create or replace function plane.enqueue_many(
    p_queue text,
    p_jobs  jsonb
)
    returns table (ordinality bigint, job_id bigint, coalesced boolean)
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $$
#variable_conflict use_column
declare
    v_queue    plane.queue;
    v_now      timestamptz := plane._now();
    v_is_plain boolean;
    v_own_ids  bigint[];
    v_ids      bigint[];
    v_asked    integer[];
    v_given    integer[];
    v_is_ready boolean;
begin
    v_is_plain := plane._check_jobs(p_jobs);
    lock table plane.ready in row exclusive mode;
    v_queue := plane._queue_named(p_queue);
    if current_setting('transaction_isolation') <> 'read committed' then
        perform plane._check_there(v_queue);
    end if;
    v_own_ids := array(select nextval('plane.job_id_seq') from generate_series(1, jsonb_array_length(p_jobs)));
    if v_is_plain and v_queue.max_depth is null then
        perform plane._place_plain(v_queue, p_jobs, v_own_ids);
        return query select generate_series(1, cardinality(v_own_ids))::bigint, unnest(v_own_ids), false;
        return;
    end if;

    if p_jobs @? '$[*].priority' then
        v_asked := array(
            select distinct (e.value ->> 'priority')::numeric::integer
            from jsonb_array_elements(p_jobs) as e (value)
            where e.value ? 'priority');
        v_given := array(select plane._open_priority(v_queue, a.priority) from unnest(v_asked) as a (priority));
    end if;

    v_ids := v_own_ids;
    if p_jobs @? '$[*].dedupe_key' then
        v_ids := plane._coalesce(v_queue, p_jobs, v_own_ids);
    end if;
    if v_queue.max_depth is not null then
        perform plane._check_depth(v_queue, sum((o.id = o.own_id)::integer)::integer)
        from unnest(v_ids, v_own_ids) as o (id, own_id)
        having bool_or(o.id = o.own_id);
    end if;

    insert into plane.job (id, queue_id, priority, by_request, version, max_dequeues, created_at, available_at,
        operation, dedupe_key, serial_key, scope_key, params, envelope)
    select v_ids[e.ord], v_queue.id,
        case when e.value ? 'priority' then v_given[array_position(v_asked, (e.value ->> 'priority')::numeric::integer)] else 0 end,
        false, (e.value ->> 'version')::numeric::integer,
        coalesce((e.value ->> 'max_dequeues')::numeric::integer, v_queue.max_dequeues), v_now,
        case when (e.value ->> 'available_at')::timestamptz > v_now then (e.value ->> 'available_at')::timestamptz end,
        e.value ->> 'operation', e.value ->> 'dedupe_key', e.value ->> 'serial_key', null,
        coalesce(e.value -> 'params', '{}'), coalesce(e.value -> 'envelope', '{}')
    from jsonb_array_elements(p_jobs) with ordinality as e (value, ord)
    where v_ids[e.ord] = v_own_ids[e.ord];
    insert into plane.ready (queue_id, lane, pos, job_id, dequeue_count, max_dequeues, fresh)
    select v_queue.id,
        2 * case when e.value ? 'priority' then v_given[array_position(v_asked, (e.value ->> 'priority')::numeric::integer)] else 0 end + 1,
        v_ids[e.ord], v_ids[e.ord], 0, coalesce((e.value ->> 'max_dequeues')::numeric::integer, v_queue.max_dequeues), false
    from jsonb_array_elements(p_jobs) with ordinality as e (value, ord)
    where v_ids[e.ord] = v_own_ids[e.ord] and e.value ->> 'serial_key' is null
        and ((e.value ->> 'available_at')::timestamptz > v_now) is not true;
    v_is_ready := found;
    if p_jobs @? '$[*].available_at' then
        insert into plane.due (job_id, queue_id, priority, available_at, reason, dequeue_count, max_dequeues, fresh)
        select j.id, v_queue.id, j.priority, j.available_at, 'scheduled', 0, j.max_dequeues, false
        from unnest(v_ids, v_own_ids) as o (id, own_id)
        cross join lateral (select f.* from plane.job f where f.id = o.id offset 0) as j
        where o.id = o.own_id and j.available_at is not null;
    end if;
    if p_jobs @? '$[*].serial_key' then
        v_is_ready := plane._join_lines(v_queue, array(
            select j.id
            from unnest(v_ids, v_own_ids) as o (id, own_id)
            cross join lateral (select f.* from plane.job f where f.id = o.id offset 0) as j
            where o.id = o.own_id and j.serial_key is not null and j.available_at is null
            order by j.id)) or v_is_ready;
    end if;
    if v_is_ready then
        perform plane._tell_ready(v_queue.id);
    end if;
    if v_ids <> v_own_ids then
        perform plane._pull_forward_many(v_queue, p_jobs, v_ids, v_own_ids);
    end if;
    return query
    select o.ord, o.id, o.id <> o.own_id
    from unnest(v_ids, v_own_ids) with ordinality as o (id, own_id, ord);
end;
$$;

revoke all on function plane.enqueue_many(text, jsonb) from public;
grant execute on function plane.enqueue_many(text, jsonb) to plane_producer;

comment on function plane.enqueue_many(text, jsonb) is
'Enqueue many jobs at once, each as enqueue would, all of them or none; returns (ordinality bigint, job_id bigint,
coalesced boolean) for each, in their order. p_jobs: an array of objects with enqueue''s argument names, without p_, as
keys; operation alone is needed, available_at is ISO 8601. An element whose dedupe key stands in the batch already
joins that job. The first job of a priority new to its queue locks the queue until its transaction ends. A refusal''s
detail names the element, from 1.
Raises 22023 an argument has the wrong type.
Raises 22023 an argument is out of range.
Raises 22023 an operation has a name of 1 to 200 characters.
Raises 22023 no such argument.
Raises PL404 no such queue.
Raises PL413 params and envelope are limited to 256 KiB.
Raises PL422 jobs must be a JSON array of objects.
Raises PL422 params and envelope must be JSON objects.
Raises PL429 the queue is full.
Role: plane_producer.';
