-- _blob_until: how long the bytes of a blob are needed, for all that can be said now; NULL: no more, ever again.
-- It is asked at least once a day, since a job or a queue may go early.
create or replace function plane._blob_until(
    p_blob plane.blob,
    p_now  timestamptz
)
    returns timestamptz
    language plpgsql
    stable
as $$
declare
    v_until timestamptz;
begin
    select case
        when p_blob.used_at is not null then p_blob.used_at + q.blob_retention
        when o.job_id is not null then o.finished_at + q.blob_retention
        when l.job_id is not null then p_now + interval '1 hour'
    end
    into v_until
    from plane.queue q
    left join plane.outcome o on o.job_id = p_blob.job_id and o.attempt = p_blob.attempt and o.status = 'done'
    left join plane.lease l on l.job_id = p_blob.job_id and l.attempt = p_blob.attempt
    where q.id = p_blob.queue_id;
    if v_until <= p_now then
        return null;
    end if;
    return case when v_until is not null then least(v_until, p_now + interval '1 day') end;
end;
$$;

revoke all on function plane._blob_until(plane.blob, timestamptz) from public;

comment on function plane._blob_until(plane.blob, timestamptz) is
'When to ask again whether the bytes of this blob are needed; NULL: they are not.';
