-- blob_info: what the headers of a download need to know.
create or replace function plane.blob_info(
    p_queue     text,
    p_job_id    bigint,
    p_blob      integer,
    p_scope_key text
)
    returns table (
        content_type text,
        filename     text,
        size         bigint,
        etag         text,
        created_at   timestamptz,
        expires_at   timestamptz
    )
    language sql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $$
    -- its bytes never change, so its name is as good as their hash; the time tells apart what a restored database had
    select (r.blob).content_type, (r.blob).filename, (r.blob).size,
        left(encode(sha256(convert_to(concat_ws('.', (r.blob).job_id, (r.blob).attempt, (r.blob).number, (r.blob).size,
            extract(epoch from (r.blob).created_at)), 'UTF8')), 'hex'), 32),
        (r.blob).created_at, r.expires_at
    from plane._readable_blob(p_queue, p_job_id, p_blob, p_scope_key) as r;
$$;

revoke all on function plane.blob_info(text, bigint, integer, text) from public;
grant execute on function plane.blob_info(text, bigint, integer, text) to plane_reader;

comment on function plane.blob_info(text, bigint, integer, text) is
'What there is to know of a blob of a done job, one row: content_type, filename (NULL is none), size (bytes), etag (32 hex
digits; a strong validator: equal exactly when the bytes are), created_at, expires_at.
Raises PL404 no such blob.
Raises PL404 no such queue.
Raises PL410 the blob has expired.
Role: plane_reader.';
