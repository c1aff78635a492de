-- _note_sleep: a queue with notify `waiters` wakes only workers that came away from a claim with empty hands.
-- A row that another session of the worker has locked is left to it: nobody waits for a note.
create or replace function plane._note_sleep(
    p_queue_id  integer,
    p_worker    text,
    p_is_asleep boolean
)
    returns void
    language plpgsql
    volatile
as $$
begin
    update plane.worker w
    set asleep = p_is_asleep
    where w.ctid = (
        select f.ctid
        from plane.worker f
        where f.name = p_worker and f.queue_id = p_queue_id and (f.asleep <> p_is_asleep or plane._sees_past())
        for no key update skip locked);
    if p_is_asleep then
        -- the next claim looks around, and so notes that it is awake
        perform set_config('plane.claims_' || p_queue_id, '', false);
    end if;
end;
$$;

revoke all on function plane._note_sleep(integer, text, boolean) from public;

comment on function plane._note_sleep(integer, text, boolean) is
'Notes whether a worker is about to sleep, for queues that wake only sleepers.';
