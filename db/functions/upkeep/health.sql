-- health: the one oracle, of tests as of production. All that it finds is one statement, and so of one snapshot: sessions
-- that work meanwhile can make it report nothing that is not so. Locks: plane.job, in ACCESS SHARE mode, before that
-- snapshot is taken, so that plane.maintain does not change the ranges of ids after it.
create or replace function plane.health(
    p_newest integer default 100000
)
    returns table (problem text, kind text, queue text, job_ids bigint[], says text)
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set enable_seqscan = off
    set work_mem = '32MB'
    set jit = off
as $$
begin
    if plane._sees_past() then
        raise exception using
            errcode = 'PL409',
            message = 'health is asked under READ COMMITTED only',
            detail = format('transaction_isolation=%s', current_setting('transaction_isolation')),
            hint = 'An older snapshot may show what is no longer so: ask in a transaction of its own.';
    end if;
    if p_newest < 0 then
        raise exception using
            errcode = '22023',
            message = 'the newest jobs are 0 or more',
            detail = format('newest=%s', p_newest),
            hint = 'Leave it out for 100000, or give NULL to look through all that are kept.';
    end if;
    lock table only plane.job in access share mode;
    return query
    select f.problem, f.kind, q.name, f.job_ids,
        f.says || case when f.found > 100 then format(' The first 100 of %s.', f.found) else '' end
    from (
        select n.problem, n.kind, n.queue_id, n.says, count(n.job_id) as found,
            coalesce(array_agg(n.job_id order by n.job_id) filter (where n.job_id is not null and n.nth <= 100), '{}') as job_ids
        from (
            select s.*, row_number() over (partition by s.problem, s.queue_id, s.says order by s.job_id) as nth
            from (
                select 'broken' as kind, b.* from plane._broken_jobs(p_newest) b
                union all
                select 'broken', b.* from plane._broken_places() b
                union all
                select 'broken', b.* from plane._broken_keys(p_newest) b
                union all
                select 'broken', b.* from plane._broken_lines() b
                union all
                select 'broken', b.* from plane._broken_blobs() b
                union all
                select 'threat', t.* from plane._threat_queues() t
                union all
                select 'threat', t.* from plane._threat_transactions() t
                union all
                select 'threat', t.* from plane._threat_settings() t
            ) as s
        ) as n
        group by n.problem, n.kind, n.queue_id, n.says
    ) as f
    left join plane.queue q on q.id = f.queue_id
    order by f.kind, f.problem, q.name, f.says;
end;
$$;

revoke all on function plane.health(integer) from public;
grant execute on function plane.health(integer) to plane_admin;

comment on function plane.health(integer) is
'Every broken promise of the ledger, and what threatens them; no rows when all is well. problem: a stable word. kind:
broken (never so, whatever goes on at this moment) or threat. queue: NULL is all. job_ids bigint[]: the jobs, the first
100. says: what it means and what to do.
Reads what is live, and of what has ended the p_newest jobs (NULL: all of them).
Raises 22023 the newest jobs are 0 or more.
Raises PL409 health is asked under READ COMMITTED only.
Role: plane_admin.';
