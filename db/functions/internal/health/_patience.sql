-- _patience: how long a queue may go without a sign of its workers: they beat once a minute, or thrice a lease.
create or replace function plane._patience(
    p_queue plane.queue
)
    returns interval
    language sql
    stable
as $$
    select greatest(interval '1 minute', least(p_queue.lease, interval '3 minutes'));
$$;

revoke all on function plane._patience(plane.queue) from public;

comment on function plane._patience(plane.queue) is
'After how much silence (1 to 3 minutes) the workers of a queue count as gone, and work that time has brought as left lying.';
