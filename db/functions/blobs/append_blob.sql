-- append_blob: an attempt goes on with a blob. Locks: the lease, FOR KEY SHARE until the commit, then the blob: two
-- writers of one blob take turns, in whatever order they come.
create or replace function plane.append_blob(
    p_job_id  bigint,
    p_attempt integer,
    p_blob    integer,
    p_data    bytea
)
    returns bigint
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $$
declare
    v_size bigint;
begin
    perform plane._check_chunk(p_data);
    perform plane._hold_lease(p_job_id, p_attempt);
    update plane.blob b
    set size = b.size + octet_length(p_data)
    where b.job_id = p_job_id and b.attempt = p_attempt and b.number = p_blob
    returning b.size into v_size;
    if not found then
        raise exception using
            errcode = 'PL404',
            message = 'no such blob',
            detail = format('job_id=%s attempt=%s blob=%s', p_job_id, p_attempt, coalesce(p_blob::text, 'NULL')),
            hint = 'Give the number that plane.put_blob returned to this attempt.';
    end if;
    if p_data <> '' then
        insert into plane.blob_chunk (job_id, attempt, number, start, data)
        values (p_job_id, p_attempt, p_blob, v_size - octet_length(p_data), p_data);
    end if;
    return v_size;
end;
$$;

revoke all on function plane.append_blob(bigint, integer, integer, bytea) from public;
grant execute on function plane.append_blob(bigint, integer, integer, bytea) to plane_worker;

comment on function plane.append_blob(bigint, integer, integer, bytea) is
'Add up to 1 MiB to a blob of a held job; returns its size then (bigint, bytes). Fewer, larger pieces cost less. A caller
who did not hear the answer begins the blob anew with put_blob.
Raises 22023 a blob is written in bytes.
Raises PL404 no such blob.
Raises PL409 the attempt no longer holds this job.
Raises PL413 a blob is written by up to 1 MiB at a time.
Role: plane_worker.';
