-- _pull_forward_many: _pull_forward for those elements of a batch that joined a job and want it sooner.
create or replace function plane._pull_forward_many(
    p_queue   plane.queue,
    p_jobs    jsonb,
    p_ids     bigint[],
    p_own_ids bigint[]
)
    returns void
    language plpgsql
    volatile
as $$
declare
    v_joined record;
begin
    for v_joined in
        select a.id, a.priority, a.available_at
        from (
            select p_ids[e.ord] as id, e.ord, coalesce((e.value ->> 'priority')::numeric::integer, 0) as priority,
                (e.value ->> 'available_at')::timestamptz as available_at
            from jsonb_array_elements(p_jobs) with ordinality as e (value, ord)
            where p_ids[e.ord] <> p_own_ids[e.ord]
            offset 0
        ) as a
        where (
            select j.priority > a.priority or j.available_at > coalesce(a.available_at, plane._now())
            from plane.job j
            where j.id = a.id)
        order by a.ord
    loop
        perform plane._pull_forward(p_queue, v_joined.id, v_joined.priority, v_joined.available_at);
    end loop;
end;
$$;

revoke all on function plane._pull_forward_many(plane.queue, jsonb, bigint[], bigint[]) from public;

comment on function plane._pull_forward_many(plane.queue, jsonb, bigint[], bigint[]) is
'Makes live jobs due earlier or more urgent, as the elements of a batch that joined them ask.
Raises PL404 no such queue.';
