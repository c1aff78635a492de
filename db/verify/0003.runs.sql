-- Raises unless the table of telemetry is there with the columns that functions rely on.
select slot, queue_id, job_id, attempt, version, started_at, recorded_at, queue_wait_ms, wall_ms, cpu_ms, rss_bytes, worker, operation, outcome, cache from plane.run where false;
select from plane.run_8 where false;
