-- _answers: what callers may see of jobs, (job_ids[i], scope_keys[i]) each.
-- A job is in exactly one place and all places are read in one statement, so it is always found.
-- A job of another queue or scope is no row; a NULL scope key sees nothing.
-- OFFSET 0 leaves the planner no way but by id: where a table was empty once, it would read the whole of its index.
create or replace function plane._answers(
    p_queue      plane.queue,
    p_job_ids    bigint[],
    p_scope_keys text[]
)
    returns setof plane.job_answer
    language plpgsql
    stable
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $$
begin
    return query
    select (j.job).id, (j.job).scope_key,
        case
            when o.job_id is not null then o.status
            when l.cancelled_by is not null then 'cancelling'
            when l.job_id is not null then 'in_progress'
            when w.job_id is not null then 'waiting'
            else 'pending'
        end,
        (
            select jsonb_build_object('done', p.done, 'total', p.total, 'message', p.message)
            from plane.progress p
            where p.job_id = a.job_id and p.attempt = coalesce(o.attempt, l.attempt)
            order by p.number desc
            limit 1
        ),
        o.result, o.error, o.cache, plane._position(j.job),
        (j.job).created_at, coalesce(o.claimed_at, l.claimed_at), o.finished_at, false
    from unnest(p_job_ids, p_scope_keys) with ordinality as a (job_id, scope_key, ord)
    cross join lateral (select f as job from plane.job f where f.id = a.job_id offset 0) as j
    left join lateral (select f.* from plane.outcome f where f.job_id = a.job_id offset 0) as o on true
    left join lateral (select f.* from plane.lease f where f.job_id = a.job_id offset 0) as l on true
    left join lateral (select f.job_id from plane.waiting f where f.job_id = a.job_id offset 0) as w on true
    where (j.job).queue_id = p_queue.id and (j.job).scope_key = a.scope_key
    order by a.ord;
end;
$$;

revoke all on function plane._answers(plane.queue, bigint[], text[]) from public;

comment on function plane._answers(plane.queue, bigint[], text[]) is
'What callers of these scope keys may see of these jobs of a queue, pair by pair, in the order asked.';
