-- put_blob: an attempt begins a blob. Locks: the lease, FOR KEY SHARE until the commit: heartbeats and cancels pass.
-- It waits for another put_blob of the same attempt that has not committed: numbers have no gaps.
create or replace function plane.put_blob(
    p_job_id       bigint,
    p_attempt      integer,
    p_content_type text,
    p_filename     text,
    p_data         bytea
)
    returns integer
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_sort = off
    set jit = off
as $$
declare
    v_now    timestamptz := plane._now();
    v_lease  plane.lease;
    v_number integer;
begin
    perform plane._check_blob(p_content_type, p_filename);
    perform plane._check_chunk(p_data);
    v_lease := plane._hold_lease(p_job_id, p_attempt);
    loop
        insert into plane.blob (job_id, attempt, number, queue_id, size, created_at, reap_at, content_type, filename)
        select p_job_id, p_attempt, coalesce(max(b.number), 0) + 1, v_lease.queue_id, octet_length(p_data), v_now,
            v_now + interval '1 hour', p_content_type, p_filename
        from plane.blob b
        where b.job_id = p_job_id and b.attempt = p_attempt
        on conflict (job_id, attempt, number) do nothing
        returning number into v_number;
        exit when found;
    end loop;
    if p_data <> '' then
        insert into plane.blob_chunk (job_id, attempt, number, start, data)
        values (p_job_id, p_attempt, v_number, 0, p_data);
    end if;
    return v_number;
end;
$$;

revoke all on function plane.put_blob(bigint, integer, text, text, bytea) from public;
grant execute on function plane.put_blob(bigint, integer, text, text, bytea) to plane_worker;

comment on function plane.put_blob(bigint, integer, text, text, bytea) is
'Begin a blob of a held job with its first bytes, up to 1 MiB (more by append_blob); returns its number (integer, from 1),
which the result is to name. It can be read once this attempt has completed the job, until the queue''s blob_retention
is over; the blobs of an attempt that does not are never read. A NULL file name is none.
Raises 22023 a blob is written in bytes.
Raises 22023 not a content type.
Raises 22023 not a file name.
Raises PL409 the attempt no longer holds this job.
Raises PL413 a blob is written by up to 1 MiB at a time.
Role: plane_worker.';
