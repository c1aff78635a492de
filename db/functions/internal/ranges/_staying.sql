-- _staying: what may not leave a range that no new ids come to: live jobs, poison, and what is within its retention.
-- Whatever is not among these has ended for good: nothing ever changes it again, so that it can be removed later. Poison
-- could still be retried: what is past its poison_retention is removed beforehand, by plane._expire_poison.
create or replace function plane._staying(
    p_lower bigint,
    p_upper bigint
)
    returns bigint[]
    language plpgsql
    volatile
    set jit = off
as $$
declare
    v_now   timestamptz := plane._now();
    v_since timestamptz := v_now - (select max(q.retention) from plane.queue q);
begin
    return array(
        select o.job_id
        from plane.outcome o
        join plane.job j on j.id = o.job_id and j.id >= p_lower and j.id < p_upper
        join plane.queue q on q.id = j.queue_id
        where o.job_id >= p_lower and o.job_id < p_upper
            and (o.status = 'poison' or o.finished_at > v_since)
            and (o.status = 'poison' or plane._kept_until(o.status, o.finished_at, q.retention, null) > v_now)
        union all
        select r.job_id from plane.ready r where r.job_id >= p_lower and r.job_id < p_upper
        union all
        select d.job_id from plane.due d where d.job_id >= p_lower and d.job_id < p_upper
        union all
        select w.job_id from plane.waiting w where w.job_id >= p_lower and w.job_id < p_upper
        union all
        select l.job_id from plane.lease l where l.job_id >= p_lower and l.job_id < p_upper);
end;
$$;

revoke all on function plane._staying(bigint, bigint) from public;

comment on function plane._staying(bigint, bigint) is
'Ids from p_lower to below p_upper of jobs that are live, poison, or kept by the retention of their queue.';
