-- reap_blobs: bytes that expired, or whose attempt lost, go. Locks: the blobs; nothing is waited for, and what somebody
-- else has locked is left to the next call.
create or replace function plane.reap_blobs(
    p_limit integer default 1000
)
    returns integer
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_sort = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $$
declare
    v_now   timestamptz := plane._now();
    v_blob  plane.blob;
    v_until timestamptz;
    v_left  integer     := p_limit;
    v_bytes bigint      := 67108864;
    v_ask   integer;
    v_rows  integer;
    v_size  bigint;
begin
    if p_limit is null or p_limit not between 1 and 100000 then
        raise exception using
            errcode = '22023',
            message = 'a call takes 1 to 100000 steps',
            detail = format('limit=%s', coalesce(p_limit::text, 'NULL')),
            hint = 'Call it again for more.';
    end if;
    for v_blob in
        select b.* from plane.blob b where b.reap_at <= v_now order by b.reap_at limit p_limit for update skip locked
    loop
        exit when v_left < 1 or v_bytes < 1;
        v_until := case when v_blob.reaped_at is null then plane._blob_until(v_blob, v_now) end;
        if v_until is not null then
            update plane.blob b
            set reap_at = v_until
            where b.job_id = v_blob.job_id and b.attempt = v_blob.attempt and b.number = v_blob.number;
            v_left := v_left - 1;
            continue;
        end if;

        loop
            v_ask := least(v_left, 1 + v_bytes / 1048576);
            with gone as (
                delete from plane.blob_chunk c
                where c.ctid = any (array(
                    select f.ctid
                    from plane.blob_chunk f
                    where f.job_id = v_blob.job_id and f.attempt = v_blob.attempt and f.number = v_blob.number
                    order by f.start
                    limit v_ask))
                returning octet_length(c.data) as bytes
            )
            select count(*), coalesce(sum(g.bytes), 0) into v_rows, v_size from gone g;
            v_left := v_left - greatest(v_rows, 1);
            v_bytes := v_bytes - v_size;
            exit when v_rows < v_ask or v_left < 1 or v_bytes < 1;
        end loop;
        perform plane._forget_blob(v_blob, v_now);
    end loop;
    return p_limit - v_left;
end;
$$;

revoke all on function plane.reap_blobs(integer) from public;
grant execute on function plane.reap_blobs(integer) to plane_worker, plane_admin;

comment on function plane.reap_blobs(integer) is
'Remove the bytes of blobs that have expired, that an attempt wrote which did not finish its job, or whose job is gone;
returns the steps it took (a piece removed, or a blob that has none to remove, is one), at most p_limit, and about 64 MiB
at most: call it again until it is 0. Any number may run at once. Readers know of an expiry without it.
Raises 22023 a call takes 1 to 100000 steps.
Role: plane_worker, plane_admin.';
