-- _take_batch_keys: the job of each element of a batch: its own, the first one's of the same dedupe key, or the live one.
-- What is joined of requests is wanted for good.
create or replace function plane._take_batch_keys(
    p_queue   plane.queue,
    p_jobs    jsonb,
    p_own_ids bigint[]
)
    returns bigint[]
    language plpgsql
    volatile
as $$
declare
    v_ids         bigint[] := p_own_ids;
    v_firsts      integer[];
    v_keyed       integer[];
    v_keys        uuid[];
    v_has_request boolean;
    v_own         bigint[];
    v_taken       bigint[];
begin
    select array_agg(f.first_ord order by f.ord),
        array_agg(f.ord order by f.key) filter (where f.ord = f.first_ord and f.key is not null),
        array_agg(f.key order by f.key) filter (where f.ord = f.first_ord and f.key is not null),
        bool_or(f.is_request)
    into v_firsts, v_keyed, v_keys, v_has_request
    from (
        select k.ord, k.key, k.is_request,
            case when k.key is null then k.ord else min(k.ord) over (partition by k.key) end as first_ord
        from (
            select e.ord, plane._hash_key(p_queue.id, e.value ->> 'dedupe_key') as key,
                plane._is_request_key(e.value ->> 'dedupe_key') as is_request
            from jsonb_array_elements(p_jobs) with ordinality as e (value, ord)
            offset 0
        ) as k
    ) as f;
    if v_keys is null then
        return p_own_ids;
    end if;
    v_own := array(select p_own_ids[k.ord] from unnest(v_keyed) with ordinality as k (ord, place) order by k.place);
    v_taken := plane._take_keys(v_keys, v_own, v_has_request);
    if v_has_request and v_taken <> v_own then
        perform plane._keep_jobs(array(select t.id from unnest(v_taken, v_own) as t (id, own_id) where t.id <> t.own_id));
    end if;
    for v_i in 1 .. cardinality(v_keyed) loop
        v_ids[v_keyed[v_i]] := v_taken[v_i];
    end loop;
    return array(select v_ids[f.ord] from unnest(v_firsts) with ordinality as f (ord, place) order by f.place);
end;
$$;

revoke all on function plane._take_batch_keys(plane.queue, jsonb, bigint[]) from public;

comment on function plane._take_batch_keys(plane.queue, jsonb, bigint[]) is
'The job id of each element of a batch, the element''s own id where it makes a new job; takes the dedupe keys.';
