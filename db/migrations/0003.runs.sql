-- Telemetry: one row an execution, insert-only, by day in a ring of nine places. A day's place is emptied as a whole
-- before its turn comes again: no row is deleted, and no partition made or dropped while anybody works.

create table plane.run (
    slot          smallint         not null,
    queue_id      integer          not null,
    job_id        bigint           not null,
    attempt       integer          not null,
    version       integer,
    started_at    timestamptz      not null,
    recorded_at   timestamptz      not null,
    queue_wait_ms double precision,
    wall_ms       double precision,
    cpu_ms        double precision,
    rss_bytes     bigint,
    worker        text             not null,
    operation     text             not null,
    outcome       text             not null,
    cache         text
) partition by range (slot);
create index run_recorded_at_idx on plane.run (recorded_at);
comment on table plane.run is 'What each execution took, as its worker tells it.';
comment on column plane.run.slot is 'Place of the day in the ring: days since 1970, UTC, modulo 9.';
comment on column plane.run.queue_id is 'Queue of the job.';
comment on column plane.run.job_id is 'The job, which may be gone.';
comment on column plane.run.attempt is 'Number of the attempt.';
comment on column plane.run.version is 'Version of the operation.';
comment on column plane.run.started_at is 'When the worker began, by its own clock.';
comment on column plane.run.recorded_at is 'When it was told.';
comment on column plane.run.queue_wait_ms is 'From when the job could be claimed to when it was, in milliseconds; NULL is not known.';
comment on column plane.run.wall_ms is 'From claim to end, in milliseconds; NULL is not known.';
comment on column plane.run.cpu_ms is 'CPU time of the worker''s process meanwhile, in milliseconds; NULL is not known.';
comment on column plane.run.rss_bytes is 'Memory of that process at the end (resident set); NULL is not known.';
comment on column plane.run.worker is 'The worker.';
comment on column plane.run.operation is 'What was done.';
comment on column plane.run.outcome is 'What became of the job, as far as the worker knows.';
comment on column plane.run.cache is 'hit, coalesced or NULL for computed.';

create table plane.run_0 partition of plane.run for values from (0) to (1);
create table plane.run_1 partition of plane.run for values from (1) to (2);
create table plane.run_2 partition of plane.run for values from (2) to (3);
create table plane.run_3 partition of plane.run for values from (3) to (4);
create table plane.run_4 partition of plane.run for values from (4) to (5);
create table plane.run_5 partition of plane.run for values from (5) to (6);
create table plane.run_6 partition of plane.run for values from (6) to (7);
create table plane.run_7 partition of plane.run for values from (7) to (8);
create table plane.run_8 partition of plane.run for values from (8) to (maxvalue);
