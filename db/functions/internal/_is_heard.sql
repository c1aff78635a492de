-- _is_heard: a NOTIFY takes one lock of the whole cluster at commit, so it is spent only as the queue's notify setting
-- rules: always, while somebody waits for the job, or never.
create or replace function plane._is_heard(
    p_queue_id integer,
    p_job_id   bigint
)
    returns boolean
    language plpgsql
    volatile
    set search_path = pg_catalog, pg_temp
as $$
declare
    v_notify text := (select q.notify from plane.queue q where q.id = p_queue_id);
begin
    return v_notify = 'always'
        or v_notify = 'waiters'
            -- an older snapshot cannot see who has just come
            and (current_setting('transaction_isolation') <> 'read committed'
                or exists (select from plane.waiter w where w.job_id = p_job_id));
end;
$$;

revoke all on function plane._is_heard(integer, bigint) from public;

comment on function plane._is_heard(integer, bigint) is
'Whether news of a job are to be told, as its queue''s notify setting rules.';
