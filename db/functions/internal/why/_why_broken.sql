-- _why_broken: nothing will ever hand it out. health() says how that comes and what to do.
create or replace function plane._why_broken(
    p_job plane.job
)
    returns table (reason text, says text, evidence jsonb)
    language sql
    stable
as $$
    with place as (
        select p.* from plane._place_of(p_job) p
    )
    select 'broken', format('no claim will find it (%s): see plane.health', b.problem),
        jsonb_build_object('problem', b.problem)
    from (
        select 'job_in_no_place'
        where not exists (select from place)
            and not exists (select from plane.outcome o where o.job_id = p_job.id)
        union all
        select 'place_without_queue'
        where not exists (select from plane.queue q where q.id = p_job.queue_id)
            and exists (select from place)
        union all
        select 'lane_unlisted'
        from place p
        join plane.queue q on q.id = p_job.queue_id
        where p.place = 'ready' and not p.lane = any (q.lanes)
        union all
        select 'waiting_without_line'
        from place p
        where p.place = 'waiting'
            and not exists (select from plane.line l where l.queue_id = p_job.queue_id and l.serial_key = p_job.serial_key)
        union all
        select 'line_without_head'
        from place p
        join plane.line l on l.queue_id = p_job.queue_id and l.serial_key = p_job.serial_key
        join plane.job h on h.id = l.job_id
        where p.place = 'waiting' and not p.is_stalled
            and not exists (select from plane._place_of(h) g where g.place not in ('waiting', 'scheduled'))
    ) as b (problem)
    limit 1;
$$;

revoke all on function plane._why_broken(plane.job) from public;

comment on function plane._why_broken(plane.job) is
'Reason broken: a promise of the ledger is, as plane.health reports it.';
