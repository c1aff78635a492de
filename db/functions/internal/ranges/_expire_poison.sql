-- _expire_poison: poison leaves a range row by row, since it can be retried until it is gone. One that somebody is retrying
-- is passed over.
create or replace function plane._expire_poison(
    p_lower bigint,
    p_upper bigint
)
    returns void
    language plpgsql
    volatile
    set jit = off
as $$
declare
    v_now timestamptz := plane._now();
begin
    perform from plane.queue q where q.poison_retention is not null;
    if not found then
        return;
    end if;
    with gone as (
        delete from plane.outcome o
        where o.job_id >= p_lower and o.job_id < p_upper
            and o.job_id = any (array(
                select f.job_id
                from plane.outcome f
                join plane.job j on j.id = f.job_id and j.id >= p_lower and j.id < p_upper
                join plane.queue q on q.id = j.queue_id
                where f.job_id >= p_lower and f.job_id < p_upper and f.status = 'poison'
                    and plane._kept_until(f.status, f.finished_at, null, q.poison_retention) <= v_now
                for update of f skip locked))
        returning o.job_id
    ), attempts as (
        delete from plane.attempt a
        using gone g
        where a.job_id = g.job_id and a.job_id >= p_lower and a.job_id < p_upper
    )
    delete from plane.job j
    using gone g
    where j.id = g.job_id and j.id >= p_lower and j.id < p_upper;
end;
$$;

revoke all on function plane._expire_poison(bigint, bigint) from public;

comment on function plane._expire_poison(bigint, bigint) is
'Removes poison jobs with ids from p_lower to below p_upper that are past the poison_retention of their queue.';
