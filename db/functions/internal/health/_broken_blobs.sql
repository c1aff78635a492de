-- _broken_blobs: a blob is its pieces, end to end, until it expires; then they go, the first ones first. All pieces are
-- walked through, but not their bytes.
create or replace function plane._broken_blobs()
    returns table (problem text, queue_id integer, job_id bigint, says text)
    language sql
    stable
as $$
    with blob as materialized (
        select coalesce(b.job_id, c.job_id) as job_id, b.queue_id, b.size, b.reaped_at, coalesce(c.ends, 0) as ends,
            coalesce(c.bytes, 0) as bytes
        from plane.blob b
        full join (
            select f.job_id, f.attempt, f.number, max(f.start + octet_length(f.data)) as ends, sum(octet_length(f.data)) as bytes
            from plane.blob_chunk f
            group by f.job_id, f.attempt, f.number
        ) as c on c.job_id = b.job_id and c.attempt = b.attempt and c.number = b.number
    )
    select 'chunk_without_blob', (select j.queue_id from plane.job j where j.id = b.job_id), b.job_id,
        'There are bytes of blobs of these jobs, and no blob: nobody can read them, and nothing removes them. '
        'Delete the rows of plane.blob_chunk.'
    from blob b
    where b.size is null
    group by b.job_id
    union all
    select 'blob_unlike_chunks', b.queue_id, b.job_id,
        'The bytes of these jobs'' blobs are not as many as were written: readers get less, or something else. '
        'Set their plane.blob.reaped_at, and readers are told that they have expired.'
    from blob b
    where b.reaped_at is null and (b.ends <> b.size or b.bytes <> b.size)
    group by b.queue_id, b.job_id;
$$;

revoke all on function plane._broken_blobs() from public;

comment on function plane._broken_blobs() is
'Blobs that are not what was written, and bytes that belong to none: one row a problem and job.';
