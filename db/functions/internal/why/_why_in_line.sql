-- _why_in_line: it waits behind the head of its serial key, which has a reason of its own.
create or replace function plane._why_in_line(
    p_job plane.job
)
    returns table (reason text, says text, evidence jsonb)
    language sql
    stable
as $$
    select 'in_line',
        format('behind job %1$s and %2$s more on serial key %3$s; job %1$s: %4$s', h.id, a.others, p_job.serial_key, c.says),
        jsonb_build_object('serial_key', p_job.serial_key, 'others', a.others,
            'head', jsonb_build_object('job_id', h.id, 'reason', c.reason, 'says', c.says, 'evidence', c.evidence))
    from plane._place_of(p_job) p
    join plane.line l on l.queue_id = p_job.queue_id and l.serial_key = p_job.serial_key
    join plane.job h on h.id = l.job_id
    cross join lateral (
        select count(*) as others
        from (
            select
            from plane.waiting w
            where w.queue_id = p_job.queue_id and w.serial_key = p_job.serial_key
                and w.pos < (select o.pos from plane.waiting o where o.job_id = p_job.id)
            limit 1000
        ) as ahead
    ) as a
    cross join lateral plane._why(h) as c
    where p.place = 'waiting' and not p.is_stalled and h.id <> p_job.id;
$$;

revoke all on function plane._why_in_line(plane.job) from public;

comment on function plane._why_in_line(plane.job) is
'Reason in_line: the job is behind the head of its serial key; evidence has the reason of the head; counting ends at 1000.';
