-- enqueue_many: enqueue for thousands at once; all of them or none.
-- Locks: plane.ready before the queue is read and a position is drawn, the queue's row for a priority that is new to it,
-- dedupe keys in sorted order, the jobs of requests that are joined, serial keys in sorted order. An element that repeats a
-- key of the batch joins the first one's job.
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
    v_is_plain boolean;
    v_own_ids  bigint[];
    v_ids      bigint[];
begin
    v_is_plain := plane._check_jobs(p_jobs);
    lock table plane.ready in row exclusive mode;
    v_queue := plane._queue_named(p_queue);
    if plane._sees_past() then
        perform plane._check_not_dropped(v_queue);
    end if;
    v_own_ids := array(select nextval('plane.job_id_seq') from generate_series(1, jsonb_array_length(p_jobs)));
    if v_is_plain and v_queue.max_depth is null then
        perform plane._place_plain(v_queue, p_jobs, v_own_ids);
        return query select generate_series(1, cardinality(v_own_ids))::bigint, unnest(v_own_ids), false;
        return;
    end if;
    v_ids := plane._place_many(v_queue, p_jobs, v_own_ids);
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
