-- _status: what a job is. All places are asked in one statement, so it is always found in one.
create or replace function plane._status(
    p_job_id bigint
)
    returns text
    language sql
    stable
as $$
    select coalesce(
        (select o.status from plane.outcome o where o.job_id = p_job_id),
        (
            select case when l.cancelled_by is null then 'in_progress' else 'cancelling' end
            from plane.lease l
            where l.job_id = p_job_id
        ),
        (select 'waiting' from plane.waiting w where w.job_id = p_job_id),
        'pending');
$$;

revoke all on function plane._status(bigint) from public;

comment on function plane._status(bigint) is
'Status of a job that exists: pending, waiting, in_progress, cancelling, done, poison or cancelled.';
