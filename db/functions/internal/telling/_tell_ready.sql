-- _tell_ready: wakes the workers of a queue, as its notify setting rules.
-- A NOTIFY takes one lock of the whole cluster at commit: `waiters` spends it only while a worker sleeps.
create or replace function plane._tell_ready(
    p_queue_id integer
)
    returns void
    language plpgsql
    volatile
as $$
begin
    perform pg_notify('plane_ready', q.name)
    from plane.queue q
    where q.id = p_queue_id and (q.notify = 'always' or q.notify = 'waiters' and plane._has_sleepers(q.id));
end;
$$;

revoke all on function plane._tell_ready(integer) from public;

comment on function plane._tell_ready(integer) is
'NOTIFY plane_ready with the queue''s name, as its notify setting rules.';
