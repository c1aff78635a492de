-- _has_sleepers: a NOTIFY takes one lock of the whole cluster at commit, so a queue with notify `waiters` spends it only
-- while one of its workers sleeps. An older snapshot cannot see who has just fallen asleep.
create or replace function plane._has_sleepers(
    p_queue_id integer
)
    returns boolean
    language plpgsql
    volatile
as $$
begin
    perform from plane.worker w where w.queue_id = p_queue_id and w.asleep limit 1;
    return found or plane._sees_past();
end;
$$;

revoke all on function plane._has_sleepers(integer) from public;

comment on function plane._has_sleepers(integer) is
'Whether a worker of the queue may be asleep.';
