-- record_run: what an execution took. It reads no job and locks nothing that a job needs: telemetry that comes late, twice
-- or never disturbs none.
create or replace function plane.record_run(
    p_queue         text,
    p_worker        text,
    p_job_id        bigint,
    p_attempt       integer,
    p_operation     text,
    p_outcome       text,
    p_started_at    timestamptz,
    p_version       integer          default null,
    p_cache         text             default null,
    p_queue_wait_ms double precision default null,
    p_wall_ms       double precision default null,
    p_cpu_ms        double precision default null,
    p_rss_bytes     bigint           default null
)
    returns void
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $$
declare
    v_queue plane.queue := plane._queue_named(p_queue);
    v_now   timestamptz := plane._now();
begin
    if not plane._is_name(p_worker) then
        perform plane._refuse_worker(p_worker);
    end if;
    perform plane._check_cache(p_cache);
    -- NaN is above every number
    if coalesce(p_job_id, 0) < 1 or coalesce(p_attempt, 0) < 1 or p_version < 1
        or not plane._is_name(p_operation)
        or coalesce(p_outcome, '') not in ('done', 'refused', 'pending', 'poison', 'cancelled', 'released', 'lost', 'unsettled')
        or not coalesce(isfinite(p_started_at), false)
        or p_queue_wait_ms not between 0 and 1e12 or p_wall_ms not between 0 and 1e12 or p_cpu_ms not between 0 and 1e12
        or p_rss_bytes < 0
    then
        raise exception using
            errcode = '22023',
            message = 'what is told of a run is out of range',
            detail = format('job_id=%s attempt=%s version=%s operation_length=%s outcome=%s started_at=%s queue_wait_ms=%s wall_ms=%s '
                'cpu_ms=%s rss_bytes=%s', p_job_id, p_attempt, p_version, length(p_operation), left(p_outcome, 100), p_started_at,
                p_queue_wait_ms, p_wall_ms, p_cpu_ms, p_rss_bytes),
            hint = 'Outcome is done, refused, pending, poison, cancelled, released, lost or unsettled; a measure is 0 or more, or NULL.';
    end if;
    insert into plane.run (slot, queue_id, job_id, attempt, version, started_at, recorded_at, queue_wait_ms, wall_ms, cpu_ms,
        rss_bytes, worker, operation, outcome, cache)
    values (plane._run_slot(v_now), v_queue.id, p_job_id, p_attempt, p_version, p_started_at, v_now, p_queue_wait_ms, p_wall_ms,
        p_cpu_ms, p_rss_bytes, p_worker, p_operation, p_outcome, p_cache);
end;
$$;

revoke all on function plane.record_run(text, text, bigint, integer, text, text, timestamptz, integer, text, double precision,
    double precision, double precision, bigint) from public;
grant execute on function plane.record_run(text, text, bigint, integer, text, text, timestamptz, integer, text, double precision,
    double precision, double precision, bigint) to plane_worker;

comment on function plane.record_run(text, text, bigint, integer, text, text, timestamptz, integer, text, double precision,
    double precision, double precision, bigint) is
'Tell what an execution took, once it is over: plane.worker_runs shows it for a week.
p_outcome: done, refused (an answer too), pending (failed, comes back), poison, cancelled, released, lost, unsettled.
p_cache: hit, coalesced or NULL for computed. p_started_at: when the worker began, by its own clock.
p_queue_wait_ms, p_wall_ms, p_cpu_ms (of the process): milliseconds; p_rss_bytes: its memory at the end; NULL is not known.
Raises 22023 a worker needs a name of 1 to 200 characters.
Raises 22023 cache is hit, coalesced or NULL.
Raises 22023 what is told of a run is out of range.
Raises PL404 no such queue.
Role: plane_worker.';
