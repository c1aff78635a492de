-- _readable_blob: the blob that a reader asks for, or why there is none. Whatever keeps it from the reader (job, number,
-- scope, queue), the answer is the same. It has expired from that moment on, reaped or not.
create or replace function plane._readable_blob(
    p_queue     text,
    p_job_id    bigint,
    p_blob      integer,
    p_scope_key text
)
    returns table (blob plane.blob, expires_at timestamptz)
    language plpgsql
    stable
as $$
declare
    v_now  timestamptz := plane._now();
    v_seen record;
begin
    select s.* into v_seen
    from plane._blobs_seen(plane._queue_named(p_queue), p_job_id, p_scope_key, coalesce(p_blob, 0)) as s;
    if not found then
        raise exception using
            errcode = 'PL404',
            message = 'no such blob',
            detail = format('job_id=%s blob=%s', coalesce(p_job_id::text, 'NULL'), coalesce(p_blob::text, 'NULL')),
            hint = 'The result of a done job names its blobs; they are read with the queue and scope key of the job.';
    end if;
    if v_seen.expires_at <= v_now or (v_seen.blob).reaped_at is not null then
        raise exception using
            errcode = 'PL410',
            message = 'the blob has expired',
            detail = format('job_id=%s blob=%s expired_at=%s', p_job_id, p_blob, v_seen.expires_at),
            hint = 'Ask the question again; how long blobs are kept is blob_retention of plane.create_queue.';
    end if;
    return query select v_seen.blob, v_seen.expires_at;
end;
$$;

revoke all on function plane._readable_blob(text, bigint, integer, text) from public;

comment on function plane._readable_blob(text, bigint, integer, text) is
'The blob of this number of a done job for this queue and scope key, and when it expires.
Raises PL404 no such blob.
Raises PL404 no such queue.
Raises PL410 the blob has expired.';
