-- _forget_blob: what becomes of a blob whose bytes are going. While some are left it stays due; after that its row stays
-- for as long as a job is there whose readers are to hear that it has expired.
create or replace function plane._forget_blob(
    p_blob plane.blob,
    p_now  timestamptz
)
    returns void
    language plpgsql
    volatile
as $$
declare
    v_is_empty boolean;
    v_is_used  boolean;
begin
    -- scalars, each one look-up: a join with the jobs might read all of them
    delete from plane.blob_share s
    where s.ctid = any (array(
        select f.ctid
        from plane.blob_share f
        where f.origin_id = p_blob.job_id and (select j.id from plane.job j where j.id = f.job_id) is null
        limit 10000
        for update skip locked));
    v_is_empty := (
        select min(c.start)
        from plane.blob_chunk c
        where c.job_id = p_blob.job_id and c.attempt = p_blob.attempt and c.number = p_blob.number) is null;
    v_is_used := (
        select o.attempt from plane.outcome o where o.job_id = p_blob.job_id and o.status = 'done') = p_blob.attempt
        or (select min(s.origin_id) from plane.blob_share s where s.origin_id = p_blob.job_id) is not null;
    if v_is_empty and v_is_used is not true then
        delete from plane.blob b
        where b.job_id = p_blob.job_id and b.attempt = p_blob.attempt and b.number = p_blob.number;
        return;
    end if;
    update plane.blob b
    set reaped_at = coalesce(b.reaped_at, p_now),
        reap_at = case when v_is_empty then p_now + interval '1 day' else b.reap_at end
    where b.job_id = p_blob.job_id and b.attempt = p_blob.attempt and b.number = p_blob.number;
end;
$$;

revoke all on function plane._forget_blob(plane.blob, timestamptz) from public;

comment on function plane._forget_blob(plane.blob, timestamptz) is
'Notes that the bytes of a blob are going or gone, and removes its row where nobody may ask for it any more.';
