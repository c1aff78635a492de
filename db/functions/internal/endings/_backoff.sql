-- _backoff: base × factor^(n−1), capped; n counts the tries that were spent, not those a release gave back.
-- Jitter spreads a herd only where pauses grow: a fixed pause stays what the DBA set.
create or replace function plane._backoff(
    p_lease plane.lease
)
    returns interval
    language sql
    volatile
as $$
    select make_interval(secs => least(
            extract(epoch from q.backoff)::float8
                * q.backoff_factor::float8 ^ least(p_lease.attempt - (p_lease.max_dequeues - j.max_dequeues) - 1, 90),
            extract(epoch from q.backoff_cap)::float8)
        * case when q.backoff_factor > 1 then 0.9 + 0.2 * random() else 1 end)
    from plane.job j
    join plane.queue q on q.id = j.queue_id
    where j.id = p_lease.job_id;
$$;

revoke all on function plane._backoff(plane.lease) from public;

comment on function plane._backoff(plane.lease) is
'The pause after a failed attempt, by the settings of its queue.';
