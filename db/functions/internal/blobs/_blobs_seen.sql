-- _blobs_seen: the blobs of a finished job's result as one scope sees them, read or not yet: its own, or those of the job
-- that computed it, which itself may be gone by then. Only done counts: nothing is seen of an attempt that did not finish.
create or replace function plane._blobs_seen(
    p_queue     plane.queue,
    p_job_id    bigint,
    p_scope_key text,
    p_blob      integer
)
    returns table (blob plane.blob, expires_at timestamptz)
    language plpgsql
    stable
as $$
begin
    return query
    select b, coalesce(b.used_at, o.finished_at) + p_queue.blob_retention
    from plane.job j
    join plane.outcome o on o.job_id = j.id and o.status = 'done'
    left join plane.blob_share s on s.job_id = j.id
    join plane.blob b on b.job_id = coalesce(s.origin_id, j.id) and b.attempt = coalesce(s.origin_attempt, o.attempt)
    where j.id = p_job_id and j.queue_id = p_queue.id and j.scope_key = p_scope_key
        and b.number between coalesce(p_blob, 1) and coalesce(p_blob, 2147483647);
end;
$$;

revoke all on function plane._blobs_seen(plane.queue, bigint, text, integer) from public;

comment on function plane._blobs_seen(plane.queue, bigint, text, integer) is
'The blobs of a done job for this queue and scope key, and when each expires or has expired; p_blob NULL: all of them.';
