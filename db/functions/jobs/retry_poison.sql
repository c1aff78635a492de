-- retry_poison: retry_job for the poison of a queue, the oldest first. What another session is retrying, or leaving, is left
-- to it.
-- Locks: queue, outcomes and jobs, dedupe keys in their order, serial keys in theirs: any number may run at once.
create or replace function plane.retry_poison(
    p_queue     text,
    p_operation text     default null,
    p_limit     integer  default 1000,
    p_spread    interval default null
)
    returns integer
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set jit = off
as $$
declare
    v_queue    plane.queue := plane._queue_named(p_queue);
    v_now      timestamptz := plane._now();
    v_jobs     bigint[];
    v_key      uuid;
    v_job      bigint;
    v_attempt  integer;
    v_taken    bigint[]    := array[]::bigint[];
    v_attempts integer[]   := array[]::integer[];
    v_share    float8;
begin
    if p_limit is null or p_limit not between 1 and 100000 or p_spread < interval '0' or p_spread > interval '365 days' then
        raise exception using
            errcode = '22023',
            message = 'a retry is of 1 to 100000 jobs, spread over 0 to 365 days',
            detail = format('limit=%s spread=%s', coalesce(p_limit::text, 'NULL'), p_spread),
            hint = 'Call it again for more.';
    end if;
    perform from plane.queue q where q.id = v_queue.id for key share;
    perform plane._check_not_dropped(v_queue);
    select array_agg(p.id) into v_jobs
    from (
        select j.id
        from plane.outcome o
        join plane.job j on j.id = o.job_id
        where o.status = 'poison' and j.queue_id = v_queue.id and (p_operation is null or j.operation = p_operation)
        order by o.job_id
        limit p_limit
        for update of o skip locked
        for key share of j skip locked
    ) as p;

    for v_key, v_job in
        select plane._hash_key(j.queue_id, j.dedupe_key) as key, j.id
        from plane.job j
        where j.id = any (v_jobs)
        order by 1, 2
    loop
        if v_key is null or plane._take_key(v_key, v_job) = v_job then
            delete from plane.outcome o where o.job_id = v_job returning o.attempt into v_attempt;
            v_taken := v_taken || v_job;
            v_attempts := v_attempts || v_attempt;
        end if;
    end loop;
    for v_job, v_attempt, v_share in
        select j.id, t.attempt, (row_number() over (order by j.id) - 1)::float8 / cardinality(v_taken)
        from unnest(v_taken, v_attempts) as t (job_id, attempt)
        join plane.job j on j.id = t.job_id
        order by j.serial_key, j.id
    loop
        perform plane._redrive(v_job, v_attempt, v_now + p_spread * v_share);
    end loop;
    if cardinality(v_taken) > 0 then
        perform plane._tell_ready(v_queue.id);
    end if;
    return cardinality(v_taken);
end;
$$;

revoke all on function plane.retry_poison(text, text, integer, interval) from public;
grant execute on function plane.retry_poison(text, text, integer, interval) to plane_admin;

comment on function plane.retry_poison(text, text, integer, interval) is
'Make the poison jobs of a queue (of one operation, where it is named) pending again as retry_job does, the oldest
p_limit of them; returns how many. One whose dedupe key another live job has stays poison. A request that is retried is no
longer cancelled by who leaves it; one that somebody is just leaving is passed over. p_spread: they become
claimable one by one over so much time, so that what could not bear them once is not hit by all at once. NOTIFY
plane_ready for those that are claimable now.
Raises 22023 a retry is of 1 to 100000 jobs, spread over 0 to 365 days.
Raises PL404 no such queue.
Role: plane_admin.';
