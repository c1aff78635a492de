-- _tell_ready: wakes the workers of a queue, as its notify setting rules.
-- A NOTIFY takes one lock of the whole cluster at commit: `waiters` spends it only while a worker sleeps.
create or replace function plane._tell_ready(
    p_queue plane.queue
)
    returns void
    language plpgsql
    volatile
    set search_path = pg_catalog, pg_temp
as $$
begin
    if p_queue.notify = 'always'
        or p_queue.notify = 'waiters'
            -- an older snapshot cannot see who has just fallen asleep
            and (current_setting('transaction_isolation') <> 'read committed'
                or exists (select from plane.worker w where w.queue_id = p_queue.id and w.asleep))
    then
        perform pg_notify('plane_ready', p_queue.name);
    end if;
end;
$$;

revoke all on function plane._tell_ready(plane.queue) from public;

comment on function plane._tell_ready(plane.queue) is
'NOTIFY plane_ready with the queue''s name, as the queue''s notify setting rules.';
