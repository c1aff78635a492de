-- read_blob: a range of a blob's bytes. STABLE, so that one snapshot sees blob and bytes: a reaper takes nothing from
-- under a read. Of a chunk only what is asked for is fetched.
create or replace function plane.read_blob(
    p_queue     text,
    p_job_id    bigint,
    p_blob      integer,
    p_scope_key text,
    p_from      bigint,
    p_length    integer
)
    returns bytea
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $$
declare
    v_blob plane.blob;
begin
    if p_from is null or p_from < 0 or p_length is null or p_length not between 1 and 1048576 then
        raise exception using
            errcode = '22023',
            message = 'a blob is read by 1 to 1048576 bytes at a time, from 0 on',
            detail = format('from=%s length=%s', coalesce(p_from::text, 'NULL'), coalesce(p_length::text, 'NULL')),
            hint = 'Read it piece by piece; plane.blob_info knows its size.';
    end if;
    select (r.blob).* into v_blob from plane._readable_blob(p_queue, p_job_id, p_blob, p_scope_key) as r;
    if p_from >= v_blob.size then
        return ''::bytea;
    end if;
    return (
        select string_agg(
            substr(c.data, greatest(p_from - c.start, 0)::integer + 1, (p_from + p_length - greatest(p_from, c.start))::integer),
            '' order by c.start)
        from plane.blob_chunk c
        where c.job_id = v_blob.job_id and c.attempt = v_blob.attempt and c.number = v_blob.number
            and c.start < p_from + p_length
            and c.start >= (
                select max(f.start)
                from plane.blob_chunk f
                where f.job_id = v_blob.job_id and f.attempt = v_blob.attempt and f.number = v_blob.number
                    and f.start <= p_from));
end;
$$;

revoke all on function plane.read_blob(text, bigint, integer, text, bigint, integer) from public;
grant execute on function plane.read_blob(text, bigint, integer, text, bigint, integer) to plane_reader;

comment on function plane.read_blob(text, bigint, integer, text, bigint, integer) is
'Up to p_length bytes (1 to 1 MiB) of a blob of a done job, from offset p_from (0 is the first byte) on; fewer where it
ends, and none, not NULL, at its end and beyond.
Raises 22023 a blob is read by 1 to 1048576 bytes at a time, from 0 on.
Raises PL404 no such blob.
Raises PL404 no such queue.
Raises PL410 the blob has expired.
Role: plane_reader.';
