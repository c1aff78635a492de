-- report_progress: how far an attempt is, said in the transaction of its batch. Locks: the lease, FOR KEY SHARE until the
-- commit: nobody takes the job over meanwhile, while renewals and cancels, which change no key column, pass.
-- Each report is a row of its own beside the lease: an UPDATE of the lease would make the heartbeat wait for the batch.
create or replace function plane.report_progress(
    p_job_id  bigint,
    p_attempt integer,
    p_done    bigint,
    p_total   bigint,
    p_message text
)
    returns text
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
    v_now       timestamptz := plane._now();
    v_lease     plane.lease;
    v_notify    text;
    v_last      plane.progress;
    v_is_pushed boolean;
begin
    if p_done is null or p_done < 0 or p_total < 0 or length(p_message) > 1000 then
        raise exception using
            errcode = '22023',
            message = 'progress is out of range',
            detail = format('done=%s total=%s message_length=%s', coalesce(p_done::text, 'NULL'), p_total, length(p_message)),
            hint = 'done and total are 0 or more (total NULL: not known), a message has up to 1000 characters.';
    end if;
    v_lease := plane._hold_lease(p_job_id, p_attempt);
    select q.notify into v_notify from plane.queue q where q.id = v_lease.queue_id;
    select p.* into v_last
    from plane.progress p
    where p.job_id = p_job_id and p.attempt = p_attempt
    order by p.number desc
    limit 1;
    -- four times a second is what a person can see; the end is always told, once
    v_is_pushed := (v_last.pushed_at is null
            or v_now not between v_last.pushed_at and v_last.pushed_at + interval '249 ms'
            or p_done >= p_total and coalesce(v_last.done < v_last.total, true))
        and (v_notify = 'always' or v_notify = 'waiters' and plane._is_awaited(p_job_id));
    insert into plane.progress (job_id, attempt, done, total, pushed_at, message)
    values (p_job_id, p_attempt, p_done, p_total, case when v_is_pushed then v_now else v_last.pushed_at end, p_message);
    if v_is_pushed then
        perform pg_notify('plane_progress', p_job_id::text);
    end if;
    -- one that another batch of this attempt is removing is left to that one
    perform from plane.progress p
    where p.job_id = p_job_id and p.attempt = p_attempt and p.number = v_last.number
    for update skip locked;
    if found then
        delete from plane.progress p where p.job_id = p_job_id and p.attempt = p_attempt and p.number = v_last.number;
    end if;
    return case when v_lease.cancelled_by is null then 'held' else 'cancelling' end;
end;
$$;

revoke all on function plane.report_progress(bigint, integer, bigint, bigint, text) from public;
grant execute on function plane.report_progress(bigint, integer, bigint, bigint, text) to plane_worker;

comment on function plane.report_progress(bigint, integer, bigint, bigint, text) is
'Say how far a held job is, in the transaction of the batch that got it there; returns held, or cancelling (stop soon).
The attempt stays its own until that transaction ends: a batch of a lost attempt cannot commit. Renewing the lease is
the heartbeat''s. p_total NULL: not known. Readers see it once it is committed; it is pushed to them (NOTIFY
plane_progress) at most four times a second, and always when done reaches total.
Raises 22023 progress is out of range.
Raises PL409 the attempt no longer holds this job.
Role: plane_worker.';
