-- fail_job: an attempt failed; its job is tried again after a pause, or is poison when its budget is spent.
create or replace function plane.fail_job(
    p_job_id   bigint,
    p_attempt  integer,
    p_error    json,
    p_retry_in interval default null
)
    returns text
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_sort = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $$
declare
    v_lease plane.lease;
begin
    if plane._is_large(p_error) then
        perform plane._refuse_large(null, p_error);
    end if;
    if p_retry_in < interval '0' or p_retry_in > interval '365 days' then
        raise exception using
            errcode = '22023',
            message = 'a pause is between 0 and 365 days',
            detail = format('retry_in=%s', p_retry_in),
            hint = 'Leave retry_in out for the queue''s own backoff.';
    end if;
    delete from plane.lease l
    where l.job_id = p_job_id and l.attempt = p_attempt
    returning l.* into v_lease;
    if not found then
        return 'lost';
    end if;
    return plane._give_up_lease(v_lease, 'failed', p_error, v_lease.max_dequeues,
        coalesce(p_retry_in, plane._backoff(v_lease)));
end;
$$;

revoke all on function plane.fail_job(bigint, integer, json, interval) from public;
grant execute on function plane.fail_job(bigint, integer, json, interval) to plane_worker;

comment on function plane.fail_job(bigint, integer, json, interval) is
'Give a held job back after a failure; returns pending (tried again after the queue''s backoff, or p_retry_in),
poison (its budget is spent), cancelled (it was asked to stop) or lost (this attempt no longer holds it).
Raises 22023 a pause is between 0 and 365 days.
Raises PL413 a result or error is limited to 1 MiB.
Role: plane_worker.';
