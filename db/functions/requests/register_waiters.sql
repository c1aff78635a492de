-- register_waiters: register_waiter for many pairs at once. Locks: the jobs by id, FOR KEY SHARE, not waited for; what is noted
-- of these waiters, by job id and name.
create or replace function plane.register_waiters(
    p_queue      text,
    p_job_ids    bigint[],
    p_scope_keys text[],
    p_waiters    text[],
    p_wait       interval
)
    returns table (job_id bigint, scope_key text)
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
    v_queue   plane.queue := plane._queue_named(p_queue);
    v_ids     bigint[];
    v_keys    text[];
    v_waiters text[];
begin
    if p_job_ids is null or p_scope_keys is null or p_waiters is null
        or cardinality(p_scope_keys) <> cardinality(p_job_ids) or cardinality(p_waiters) <> cardinality(p_job_ids)
    then
        raise exception using
            errcode = '22023',
            message = 'job_ids, scope_keys and waiters must be arrays of one length',
            detail = format('job_ids=%s scope_keys=%s waiters=%s',
                coalesce(cardinality(p_job_ids)::text, 'NULL'), coalesce(cardinality(p_scope_keys)::text, 'NULL'),
                coalesce(cardinality(p_waiters)::text, 'NULL')),
            hint = 'Give each job the scope key and the name of its waiter, in the same place.';
    end if;
    perform plane._check_waiters(p_waiters, p_wait);
    select array_agg(a.job_id order by a.ord), array_agg(a.scope_key order by a.ord), array_agg(a.waiter order by a.ord)
    into v_ids, v_keys, v_waiters
    from unnest(p_job_ids, p_scope_keys, p_waiters) with ordinality as a (job_id, scope_key, waiter, ord)
    cross join lateral (select j.queue_id, j.scope_key from plane.job j where j.id = a.job_id offset 0) as j
    where j.queue_id = v_queue.id and j.scope_key = a.scope_key;
    if v_ids is not null then
        perform plane._note_interest(v_ids, v_waiters, plane._now() + p_wait, 'waits');
    end if;
    return query select s.job_id, s.scope_key from unnest(v_ids, v_keys) as s (job_id, scope_key);
end;
$$;

revoke all on function plane.register_waiters(text, bigint[], text[], text[], interval) from public;
grant execute on function plane.register_waiters(text, bigint[], text[], text[], interval) to plane_reader;

comment on function plane.register_waiters(text, bigint[], text[], text[], interval) is
'As register_waiter, for (job_ids[i], scope_keys[i], waiters[i]) each; returns (job_id bigint, scope_key text) of those pairs
that are there, in the order given. A caller with two scope keys gives the job twice. A refusal''s detail names the element,
from 1.
Raises 22023 a waiter has a name of 1 to 200 characters and a wait above 0, of at most a day.
Raises 22023 job_ids, scope_keys and waiters must be arrays of one length.
Raises PL404 no such queue.
Role: plane_reader.';
