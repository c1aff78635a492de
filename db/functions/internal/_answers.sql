-- _answers: what callers may see of jobs, (job_ids[i], scope_keys[i]) each.
-- A job is in exactly one place and all places are read in one statement, so it is always found.
-- A job of another queue or scope is no row; a NULL scope key sees nothing.
create or replace function plane._answers(
    p_queue      plane.queue,
    p_job_ids    bigint[],
    p_scope_keys text[]
)
    returns setof plane.job_answer
    language plpgsql
    stable
    set search_path = pg_catalog, pg_temp
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $$
begin
    return query
    select j.id, j.scope_key,
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
            where p.job_id = j.id and p.attempt = coalesce(o.attempt, l.attempt)
            order by p.number desc
            limit 1
        ),
        o.result, o.error, o.cache, plane._position(j),
        j.created_at, coalesce(o.claimed_at, l.claimed_at), o.finished_at
    from unnest(p_job_ids, p_scope_keys) with ordinality as a (job_id, scope_key, ord)
    join plane.job j on j.id = a.job_id
    left join plane.outcome o on o.job_id = j.id
    left join plane.lease l on l.job_id = j.id
    left join plane.waiting w on w.job_id = j.id
    where j.queue_id = p_queue.id and j.scope_key = a.scope_key
    order by a.ord;
end;
$$;

revoke all on function plane._answers(plane.queue, bigint[], text[]) from public;

comment on function plane._answers(plane.queue, bigint[], text[]) is
'What callers of these scope keys may see of these jobs of a queue, pair by pair, in the order asked.';
