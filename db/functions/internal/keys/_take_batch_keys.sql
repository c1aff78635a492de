-- _take_batch_keys: the job of each element of a batch: its own, the first one's of the same dedupe key, or the live one.
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
    v_ids    bigint[] := p_own_ids;
    v_firsts integer[];
    v_keyed  integer[];
    v_keys   uuid[];
    v_taken  bigint[];
begin
    select array_agg(f.first_ord order by f.ord),
        array_agg(f.ord order by f.key) filter (where f.ord = f.first_ord and f.key is not null),
        array_agg(f.key order by f.key) filter (where f.ord = f.first_ord and f.key is not null)
    into v_firsts, v_keyed, v_keys
    from (
        select k.ord, k.key, case when k.key is null then k.ord else min(k.ord) over (partition by k.key) end as first_ord
        from (
            select e.ord, plane._hash_key(p_queue.id, e.value ->> 'dedupe_key') as key
            from jsonb_array_elements(p_jobs) with ordinality as e (value, ord)
            offset 0
        ) as k
    ) as f;
    if v_keys is null then
        return p_own_ids;
    end if;
    v_taken := plane._take_keys(v_keys, array(
        select p_own_ids[k.ord] from unnest(v_keyed) with ordinality as k (ord, place) order by k.place));
    for v_i in 1 .. cardinality(v_keyed) loop
        v_ids[v_keyed[v_i]] := v_taken[v_i];
    end loop;
    return array(select v_ids[f.ord] from unnest(v_firsts) with ordinality as f (ord, place) order by f.place);
end;
$$;

revoke all on function plane._take_batch_keys(plane.queue, jsonb, bigint[]) from public;

comment on function plane._take_batch_keys(plane.queue, jsonb, bigint[]) is
'The job id of each element of a batch, the element''s own id where it makes a new job; takes the dedupe keys.';
