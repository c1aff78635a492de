-- Finished jobs go with their tables; live ones must have ended first.
do $$
begin
    if exists (select from plane.ready) or exists (select from plane.due)
        or exists (select from plane.waiting) or exists (select from plane.lease)
    then
        raise exception using
            errcode = 'PL409',
            message = 'there are live jobs',
            hint = 'Let workers finish them, or drop the schema if they may be lost.';
    end if;
end;
$$;
-- Copies of what stays of a range, not in place yet; partitions go with their parent.
do $$
declare
    v_copy regclass;
begin
    for v_copy in
        select c.oid
        from pg_class c
        where c.relnamespace = 'plane'::regnamespace and c.relkind = 'r' and not c.relispartition
            and c.relname ~ '^(job|outcome|attempt)_\d+$'
    loop
        execute format('drop table %s', v_copy);
    end loop;
end;
$$;
drop type plane.job_answer, plane.claimed_job;
drop table plane.progress, plane.attempt, plane.outcome, plane.waiter, plane.secret, plane.live_key, plane.lease, plane.stalled_line,
    plane.waiting, plane.line, plane.due, plane.ready, plane.job, plane.operation, plane.worker, plane.queue;
drop sequence plane.job_id_seq;
