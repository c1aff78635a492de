-- worker_runs: what executions took, for a week.
create or replace view plane.worker_runs as
select r.job_id, r.attempt, r.worker, q.name as queue, r.operation, r.version, r.outcome, r.cache,
    r.queue_wait_ms, r.wall_ms, r.cpu_ms, r.rss_bytes, r.started_at, r.recorded_at
from plane.run r
join plane.queue q on q.id = r.queue_id;

revoke all on plane.worker_runs from public;
grant select on plane.worker_runs to plane_admin;

comment on view plane.worker_runs is 'What each execution took, as its worker told: a week at least, nine days at most.';
comment on column plane.worker_runs.job_id is 'The job, which may be gone.';
comment on column plane.worker_runs.attempt is 'Number of the attempt.';
comment on column plane.worker_runs.worker is 'Who did it.';
comment on column plane.worker_runs.queue is 'Queue of the job.';
comment on column plane.worker_runs.operation is 'What was done.';
comment on column plane.worker_runs.version is 'Version of the operation.';
comment on column plane.worker_runs.outcome is
'done, refused (an answer too), pending (failed, comes back), poison, cancelled, released, lost, unsettled.';
comment on column plane.worker_runs.cache is 'hit (answered from a cache) or coalesced (shared a computation under way); NULL when computed.';
comment on column plane.worker_runs.queue_wait_ms is 'From when the job could be claimed to when it was, in milliseconds; NULL is not known.';
comment on column plane.worker_runs.wall_ms is 'From claim to end, in milliseconds; NULL is not known.';
comment on column plane.worker_runs.cpu_ms is 'CPU time of the worker''s process meanwhile, in milliseconds; NULL is not known.';
comment on column plane.worker_runs.rss_bytes is 'Memory of that process at the end, in bytes; NULL is not known.';
comment on column plane.worker_runs.started_at is 'When the worker began, by its own clock.';
comment on column plane.worker_runs.recorded_at is 'When it was told.';
