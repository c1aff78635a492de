-- _tell_done: tells whoever waits that a job has ended, as the queue's notify setting rules.
-- Called after the row that registering callers lock is gone, so that none slips between look and end.
create or replace function plane._tell_done(
    p_queue_id integer,
    p_job_id   bigint
)
    returns void
    language plpgsql
    volatile
    set search_path = pg_catalog, pg_temp
as $$
declare
    v_notify text := (select q.notify from plane.queue q where q.id = p_queue_id);
begin
    if v_notify = 'always'
        or v_notify = 'waiters'
            -- an older snapshot cannot see who has just come
            and (current_setting('transaction_isolation') <> 'read committed'
                or exists (select from plane.waiter w where w.job_id = p_job_id))
    then
        perform pg_notify('plane_done', p_job_id::text);
    end if;
end;
$$;

revoke all on function plane._tell_done(integer, bigint) from public;

comment on function plane._tell_done(integer, bigint) is
'NOTIFY plane_done with the job''s id, as the queue''s notify setting rules.';
