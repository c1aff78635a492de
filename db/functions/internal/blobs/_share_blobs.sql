-- _share_blobs: a result that another job computed uses that job's blobs, which from now on live as long as those of a job
-- that finishes now. Locks: those blobs, by number; if a reaper was first, it is waited for, and nothing is left to share.
-- The note of the use is a minute ahead, and needs no lock while it is: many results can share without taking turns.
create or replace function plane._share_blobs(
    p_job_id   bigint,
    p_blobs_of bigint,
    p_element  bigint default null
)
    returns void
    language plpgsql
    volatile
as $$
declare
    v_now        timestamptz := plane._now();
    v_count      integer;
    v_noted      integer;
    v_origin_id  bigint;
    v_attempt    integer;
    v_is_old     boolean;
    v_is_expired boolean;
begin
    select count(*), max((s.blob).job_id), max((s.blob).attempt),
        bool_or((s.blob).used_at is null or (s.blob).used_at < v_now),
        bool_or((s.blob).reaped_at is not null or s.expires_at <= v_now)
    into v_count, v_origin_id, v_attempt, v_is_old, v_is_expired
    from plane.job j
    join plane.queue q on q.id = j.queue_id
    cross join lateral plane._blobs_seen(q, p_blobs_of, j.scope_key, null) as s
    where j.id = p_job_id and p_blobs_of <> p_job_id;
    if v_count = 0 then
        raise exception using
            errcode = 'PL404',
            message = 'no such job to take blobs from',
            detail = concat_ws(' ', 'element=' || p_element, format('job_id=%s blobs_of=%s', p_job_id, p_blobs_of)),
            hint = 'It is another job of this queue and scope key that is done and has blobs.';
    end if;

    if v_is_old and not v_is_expired then
        update plane.blob b
        set used_at = v_now + interval '1 minute'
        where b.job_id = v_origin_id and b.attempt = v_attempt and b.reaped_at is null;
        get diagnostics v_noted = row_count;
        v_is_expired := v_noted < v_count;
    end if;
    if v_is_expired then
        raise exception using
            errcode = 'PL410',
            message = 'the blobs have expired',
            detail = concat_ws(' ', 'element=' || p_element, format('job_id=%s blobs_of=%s', p_job_id, p_blobs_of)),
            hint = 'Forget the answer that names them, and compute it anew.';
    end if;
    insert into plane.blob_share (job_id, origin_id, origin_attempt) values (p_job_id, v_origin_id, v_attempt);
end;
$$;

revoke all on function plane._share_blobs(bigint, bigint, bigint) from public;

comment on function plane._share_blobs(bigint, bigint, bigint) is
'The result of the first job uses the blobs of the second. p_element as in _check_cache.
Raises PL404 no such job to take blobs from.
Raises PL410 the blobs have expired.';
