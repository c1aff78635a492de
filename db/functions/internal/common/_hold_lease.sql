-- _hold_lease: the attempt is to keep its job until this transaction ends. Locks: the lease, FOR KEY SHARE: nobody takes
-- the job over meanwhile, while renewals and cancels, which change no key column, pass.
create or replace function plane._hold_lease(
    p_job_id  bigint,
    p_attempt integer
)
    returns plane.lease
    language plpgsql
    volatile
as $$
declare
    v_lease plane.lease;
begin
    select l.* into v_lease
    from plane.lease l
    where l.job_id = p_job_id and l.attempt = p_attempt
    for key share;
    if not found then
        raise exception using
            errcode = 'PL409',
            message = 'the attempt no longer holds this job',
            detail = format('job_id=%s attempt=%s', coalesce(p_job_id::text, 'NULL'), coalesce(p_attempt::text, 'NULL')),
            hint = 'Stop working on it and roll this batch back: another attempt does it, or nobody needs it any more.';
    end if;
    return v_lease;
end;
$$;

revoke all on function plane._hold_lease(bigint, integer) from public;

comment on function plane._hold_lease(bigint, integer) is
'The lease of this attempt, held until the transaction ends.
Raises PL409 the attempt no longer holds this job.';
