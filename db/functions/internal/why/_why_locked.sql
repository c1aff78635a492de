-- _why_locked: an open transaction has locked the row on which it turns, or has removed it: a claim that has not
-- committed, a batch of an attempt that is gone, an enqueuer that joined the job or its line.
create or replace function plane._why_locked(
    p_job plane.job
)
    returns table (reason text, says text, evidence jsonb)
    language sql
    stable
as $$
    select 'locked', format('an open transaction has it locked, or took it: %s', o.who), o.evidence
    from plane._place_of(p_job) p
    cross join lateral plane._lockers(p.changed_by) as x (xid)
    join plane._open_transactions() o on o.xid = x.xid
    order by o.evidence ->> 'pid'
    limit 1;
$$;

revoke all on function plane._why_locked(plane.job) from public;

comment on function plane._why_locked(plane.job) is
'Reason locked: the row of the job is another transaction''s until that ends; evidence names it.';
