-- The ledger's tables. A job's state is *where it is*: exactly one of ready, due, waiting, lease and
-- outcome holds it. Singular tables store and are private; plural views tell.
-- job, outcome and attempt are split by ranges of the job id, so that finished work leaves by partition and a
-- look-up by id touches one of them; nothing there is updated. plane.maintain() opens and removes ranges.

create sequence plane.job_id_seq as bigint;
comment on sequence plane.job_id_seq is
'Draws job ids and positions alike, so that positions are ordered across every way into plane.ready.
Must not cache: the scan floors of claim rest on drawing in order under the lock of plane.ready.';

-- Queues, their workers and their operations ---------------------------------------------------

create table plane.queue (
    id             integer     generated always as identity,
    name           text        not null,
    lease          interval    not null default '120 seconds',
    max_dequeues   integer     not null default 5,
    backoff        interval    not null default '30 seconds',
    backoff_factor numeric     not null default 1,
    backoff_cap    interval    not null default '1 hour',
    retention      interval    not null default '24 hours',
    poison_retention interval,
    max_depth      integer,
    notify         text        not null default 'always',
    lanes          integer[]   not null default '{0,1}',
    paused_at      timestamptz,
    created_at     timestamptz not null default clock_timestamp(),

    constraint queue_pkey primary key (id),
    constraint queue_name_key unique (name),
    constraint queue_name_check check (name ~ '^[a-z0-9][a-z0-9_-]{0,47}$'),
    constraint queue_lease_check check (lease > interval '0' and lease <= interval '7 days'),
    constraint queue_max_dequeues_check check (max_dequeues between 1 and 1000000),
    constraint queue_backoff_check check (backoff >= interval '0' and backoff <= interval '365 days'),
    constraint queue_backoff_factor_check check (backoff_factor between 1 and 1000),
    constraint queue_backoff_cap_check check (backoff_cap >= interval '0' and backoff_cap <= interval '365 days'),
    constraint queue_retention_check check (retention >= interval '0'),
    constraint queue_poison_retention_check check (poison_retention >= interval '0'),
    constraint queue_max_depth_check check (max_depth > 0),
    constraint queue_notify_check check (notify in ('always', 'waiters', 'never'))
);
comment on table plane.queue is 'One row a queue: its settings, which rule over any setting of a worker.';
comment on column plane.queue.id is 'Short key of the queue in the hot tables.';
comment on column plane.queue.name is 'Name of the queue, as callers write it.';
comment on column plane.queue.lease is 'How long an attempt owns a job before it must renew.';
comment on column plane.queue.max_dequeues is 'Attempts a job may have before it becomes poison, unless the job says otherwise.';
comment on column plane.queue.backoff is 'Pause after the first failed attempt.';
comment on column plane.queue.backoff_factor is 'Growth of the pause from failure to failure; above 1 it also gets 10 % jitter.';
comment on column plane.queue.backoff_cap is 'The longest pause between two attempts.';
comment on column plane.queue.retention is 'How long done and cancelled jobs are kept at least.';
comment on column plane.queue.poison_retention is 'How long poison is kept at least; NULL is for ever.';
comment on column plane.queue.max_depth is 'Jobs that may wait before enqueue refuses (approximate); NULL is no limit.';
comment on column plane.queue.notify is 'Who is told of new and finished jobs: always, waiters (only somebody who waits), never.';
comment on column plane.queue.lanes is 'Lanes of plane.ready in use, in claiming order; lane = 2 × priority, + 1 for work that never was claimed.';
comment on column plane.queue.paused_at is 'Since when it hands out nothing; NULL is not paused.';
comment on column plane.queue.created_at is 'When the queue was created.';

create table plane.worker (
    name          text        not null,
    queue_id      integer     not null,
    info          jsonb       not null,
    asleep        boolean     not null default false,
    registered_at timestamptz not null,
    seen_at       timestamptz not null,

    constraint worker_pkey primary key (name, queue_id),
    constraint worker_queue_fkey foreign key (queue_id) references plane.queue (id) on delete cascade,
    constraint worker_name_check check (name <> '' and length(name) <= 200)
) with (fillfactor = 50);
comment on table plane.worker is 'Presence of workers: who serves which queue and when it was last seen.';
comment on column plane.worker.name is 'Name under which the worker claims.';
comment on column plane.worker.queue_id is 'Queue that it serves.';
comment on column plane.worker.info is 'What the worker says of itself: host, pid, version and the like.';
comment on column plane.worker.asleep is 'Its last claim came back empty; a queue with notify waiters wakes only workers that sleep.';
comment on column plane.worker.registered_at is 'When it last started.';
comment on column plane.worker.seen_at is 'Its last heartbeat.';

create table plane.operation (
    queue_id        integer     not null,
    name            text        not null,
    version         integer     not null,
    params_schema   jsonb       not null,
    ttl_seconds     integer     not null,
    timeout_seconds integer     not null,
    per_actor       boolean     not null,
    registered_at   timestamptz not null,

    constraint operation_pkey primary key (queue_id, name, version),
    constraint operation_queue_fkey foreign key (queue_id) references plane.queue (id) on delete cascade,
    constraint operation_name_check check (name ~ '^[A-Za-z][A-Za-z0-9_.:-]{0,99}$'),
    constraint operation_version_check check (version > 0),
    constraint operation_params_schema_check check (jsonb_typeof(params_schema) = 'object'),
    constraint operation_ttl_check check (ttl_seconds >= 0),
    constraint operation_timeout_check check (timeout_seconds > 0)
);
comment on table plane.operation is 'The manifests: the operations that each surface answers.';
comment on column plane.operation.queue_id is 'Queue of the surface.';
comment on column plane.operation.name is 'Name of the operation.';
comment on column plane.operation.version is 'Version of the operation; a request that names none gets the newest.';
comment on column plane.operation.params_schema is 'JSON Schema of its params.';
comment on column plane.operation.ttl_seconds is 'How long an answer may be served from a cache; 0 is never.';
comment on column plane.operation.timeout_seconds is 'How long its handler may run.';
comment on column plane.operation.per_actor is 'Its answer depends on the person, who then joins the scope key.';
comment on column plane.operation.registered_at is 'When a worker last changed this entry.';

-- What was asked, written once -----------------------------------------------------------------

create table plane.job (
    id           bigint      not null,
    queue_id     integer     not null,
    priority     smallint    not null,
    by_request   boolean     not null,
    version      integer,
    max_dequeues integer     not null,
    created_at   timestamptz not null,
    available_at timestamptz,
    operation    text        not null,
    dedupe_key   text,
    serial_key   text,
    scope_key    text,
    params       jsonb       not null,
    envelope     jsonb       not null,

    constraint job_pkey primary key (id)
) partition by range (id);
comment on table plane.job is 'The request of each job, written once and never updated.';
comment on column plane.job.id is 'Id of the job, unique in the database.';
comment on column plane.job.queue_id is 'Its queue.';
comment on column plane.job.priority is 'Priority it got at first: the one asked for, or the nearest that its queue keeps; lower is sooner.';
comment on column plane.job.by_request is 'Asked through submit_request: its dedupe key is its cache key too.';
comment on column plane.job.version is 'Version of the operation.';
comment on column plane.job.max_dequeues is 'Attempts it was given.';
comment on column plane.job.created_at is 'When it was enqueued, by the wall clock.';
comment on column plane.job.available_at is 'When it was scheduled for; NULL is at once.';
comment on column plane.job.operation is 'What to do.';
comment on column plane.job.dedupe_key is 'Two live jobs of a queue never share it.';
comment on column plane.job.serial_key is 'Jobs of a queue that share it run one at a time.';
comment on column plane.job.scope_key is 'Who may read it by plane.get_job; NULL is nobody.';
comment on column plane.job.params is 'Arguments of the operation, an object.';
comment on column plane.job.envelope is 'Who asked: client, actor, staff, scope.';

create table plane.job_0 partition of plane.job for values from (0) to (10000000000);
create table plane.job_1 partition of plane.job for values from (10000000000) to (maxvalue);

-- Where a live job is --------------------------------------------------------------------------

create table plane.ready (
    queue_id      integer not null,
    lane          integer not null,
    pos           bigint  not null,
    job_id        bigint  not null,
    dequeue_count integer not null,
    max_dequeues  integer not null,
    fresh         boolean not null,

    constraint ready_pkey primary key (queue_id, lane, pos)
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 2000, autovacuum_analyze_scale_factor = 0.5);
-- A job that never was moved has its own id for a position and is found by the primary key.
create unique index ready_moved_key on plane.ready (job_id) where pos <> job_id;
comment on table plane.ready is 'Jobs that can be claimed now, consumed from the front of each lane.';
comment on column plane.ready.queue_id is 'Queue of the job.';
comment on column plane.ready.lane is '2 × priority, + 1 for work that never was claimed; lower is sooner.';
comment on column plane.ready.pos is 'Place in the lane; the job id itself for a job that came here straight from enqueue.';
comment on column plane.ready.job_id is 'The job.';
comment on column plane.ready.dequeue_count is 'Claims so far.';
comment on column plane.ready.max_dequeues is 'Claims it may have.';
comment on column plane.ready.fresh is 'Its answer may not come from a cache.';

create table plane.due (
    job_id        bigint      not null,
    queue_id      integer     not null,
    priority      smallint    not null,
    available_at  timestamptz not null,
    reason        text        not null,
    dequeue_count integer     not null,
    max_dequeues  integer     not null,
    fresh         boolean     not null,

    constraint due_pkey primary key (job_id),
    constraint due_reason_check check (reason in ('scheduled', 'backoff'))
);
create index due_available_at_idx on plane.due (queue_id, available_at);
comment on table plane.due is 'Jobs whose time has not come: scheduled ones and pauses after a failure.';
comment on column plane.due.job_id is 'The job.';
comment on column plane.due.queue_id is 'Queue of the job.';
comment on column plane.due.priority is 'Its priority.';
comment on column plane.due.available_at is 'When it becomes claimable.';
comment on column plane.due.reason is 'scheduled (joins its serial line when due) or backoff (keeps its place there).';
comment on column plane.due.dequeue_count is 'Claims so far.';
comment on column plane.due.max_dequeues is 'Claims it may have.';
comment on column plane.due.fresh is 'Its answer may not come from a cache.';

create table plane.line (
    queue_id   integer not null,
    serial_key text    not null,
    job_id     bigint  not null,

    constraint line_pkey primary key (queue_id, serial_key)
);
comment on table plane.line is 'The head of each serial key: the one job of it that may be ready, held or in backoff.';
comment on column plane.line.queue_id is 'Queue of the line.';
comment on column plane.line.serial_key is 'The serial key.';
comment on column plane.line.job_id is 'The job at the head.';

create table plane.waiting (
    queue_id     integer  not null,
    serial_key   text     not null,
    pos          bigint   not null,
    job_id       bigint   not null,
    priority     smallint not null,
    max_dequeues integer  not null,
    dequeue_count integer not null,
    fresh        boolean  not null,

    constraint waiting_pkey primary key (queue_id, serial_key, pos),
    constraint waiting_job_key unique (job_id)
);
comment on table plane.waiting is 'Jobs behind the head of their serial key, in the order of joining.';
comment on column plane.waiting.queue_id is 'Queue of the job.';
comment on column plane.waiting.serial_key is 'Its serial key.';
comment on column plane.waiting.pos is 'Order of joining.';
comment on column plane.waiting.job_id is 'The job.';
comment on column plane.waiting.priority is 'Its priority, which counts only once it is ready.';
comment on column plane.waiting.max_dequeues is 'Claims it may have.';
comment on column plane.waiting.dequeue_count is 'Claims so far.';
comment on column plane.waiting.fresh is 'Its answer may not come from a cache.';

create table plane.stalled_line (
    queue_id   integer not null,
    serial_key text    not null,
    job_id     bigint  not null
);
create index stalled_line_queue_id_idx on plane.stalled_line (queue_id);
comment on table plane.stalled_line is
'Notes that a head ended while somebody was joining its line; the next claim or sweep hands the line on.';
comment on column plane.stalled_line.queue_id is 'Queue of the line.';
comment on column plane.stalled_line.serial_key is 'The serial key.';
comment on column plane.stalled_line.job_id is 'The head that ended.';

create table plane.lease (
    job_id       bigint      not null,
    queue_id     integer     not null,
    attempt      integer     not null,
    max_dequeues integer     not null,
    priority     smallint    not null,
    fresh        boolean     not null,
    claimed_at   timestamptz not null,
    expires_at   timestamptz not null,
    live_key     uuid,
    locked_by    text        not null,
    cancelled_by text,
    serial_key   text,

    constraint lease_pkey primary key (job_id)
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 2000, autovacuum_analyze_scale_factor = 0.5);
create index lease_expires_at_idx on plane.lease (queue_id, expires_at);
comment on table plane.lease is 'Jobs that an attempt holds; (job_id, attempt) is the fence.';
comment on column plane.lease.job_id is 'The job.';
comment on column plane.lease.queue_id is 'Queue of the job.';
comment on column plane.lease.attempt is 'Number of the attempt: only ever grows.';
comment on column plane.lease.max_dequeues is 'Claims the job may have.';
comment on column plane.lease.priority is 'Its priority.';
comment on column plane.lease.fresh is 'Its answer may not come from a cache.';
comment on column plane.lease.claimed_at is 'When the attempt began.';
comment on column plane.lease.expires_at is 'Until when the attempt owns the job, by the wall clock.';
comment on column plane.lease.live_key is 'Its dedupe key in plane.live_key.';
comment on column plane.lease.locked_by is 'The worker.';
comment on column plane.lease.cancelled_by is 'Who asked it to stop; NULL is nobody.';
comment on column plane.lease.serial_key is 'Its serial key, whose line it hands on when it ends.';

create table plane.live_key (
    key    uuid   not null,
    job_id bigint not null,

    constraint live_key_pkey primary key (key)
);
comment on table plane.live_key is 'Dedupe keys of live jobs: at most one live job a queue and key.';
comment on column plane.live_key.key is 'First half of the sha256 over queue and dedupe key.';
comment on column plane.live_key.job_id is 'The live job.';

create table plane.waiter (
    job_id   bigint      not null,
    waiter   text        not null,
    deadline timestamptz not null,

    constraint waiter_pkey primary key (job_id, waiter),
    constraint waiter_name_check check (waiter <> '' and length(waiter) <= 200)
);
create index waiter_deadline_idx on plane.waiter (deadline);
comment on table plane.waiter is 'Who waits for which job, until when.';
comment on column plane.waiter.job_id is 'The job.';
comment on column plane.waiter.waiter is 'Name of the one who waits.';
comment on column plane.waiter.deadline is 'When it stops waiting.';

create table plane.secret (
    name  text  not null,
    value bytea not null,

    constraint secret_pkey primary key (name)
);
comment on table plane.secret is 'Keys that processes of this database share; nobody reads them but through their function.';
comment on column plane.secret.name is 'What the key is for: ticket.';
comment on column plane.secret.value is 'The key.';

-- What became of it, written once --------------------------------------------------------------

create table plane.outcome (
    job_id       bigint      not null,
    attempt      integer     not null,
    max_dequeues integer     not null,
    claimed_at   timestamptz,
    finished_at  timestamptz not null,
    replaced     boolean     not null default false,
    status       text        not null,
    cache        text,
    locked_by    text,
    result       json,
    error        json,

    constraint outcome_pkey primary key (job_id)
) partition by range (job_id);
create index outcome_poison_idx on plane.outcome (job_id) where status = 'poison';
comment on table plane.outcome is 'How each finished job ended.';
comment on column plane.outcome.job_id is 'The job.';
comment on column plane.outcome.attempt is 'The attempt that ended it; 0 when it never was claimed.';
comment on column plane.outcome.max_dequeues is 'Attempts it might have had.';
comment on column plane.outcome.claimed_at is 'When that attempt began.';
comment on column plane.outcome.finished_at is 'When it ended.';
comment on column plane.outcome.replaced is 'Content that cannot be kept (a NUL character) was replaced by U+FFFD.';
comment on column plane.outcome.status is 'done, poison or cancelled.';
comment on column plane.outcome.cache is 'hit (answered from a cache) or coalesced (shared a computation under way); NULL when computed.';
comment on column plane.outcome.locked_by is 'The worker.';
comment on column plane.outcome.result is 'The answer, digit for digit as the worker gave it.';
comment on column plane.outcome.error is 'A refusal, which is an answer too, or the last failure.';

create table plane.outcome_0 partition of plane.outcome for values from (0) to (10000000000);
create table plane.outcome_1 partition of plane.outcome for values from (10000000000) to (maxvalue);

create table plane.attempt (
    job_id     bigint      not null,
    attempt    integer     not null,
    claimed_at timestamptz not null,
    ended_at   timestamptz not null,
    replaced   boolean     not null default false,
    outcome    text        not null,
    locked_by  text        not null,
    error      json,

    constraint attempt_pkey primary key (job_id, attempt),
    constraint attempt_outcome_check check (outcome in ('failed', 'lapsed', 'released', 'cancelled'))
) partition by range (job_id);
comment on table plane.attempt is 'Attempts that did not finish their job.';
comment on column plane.attempt.job_id is 'The job.';
comment on column plane.attempt.attempt is 'Number of the attempt.';
comment on column plane.attempt.claimed_at is 'When it began.';
comment on column plane.attempt.ended_at is 'When it ended.';
comment on column plane.attempt.replaced is 'Content that cannot be kept (a NUL character) was replaced by U+FFFD.';
comment on column plane.attempt.outcome is 'failed, lapsed, released or cancelled.';
comment on column plane.attempt.locked_by is 'The worker.';
comment on column plane.attempt.error is 'What it failed with.';

create table plane.attempt_0 partition of plane.attempt for values from (0) to (10000000000);
create table plane.attempt_1 partition of plane.attempt for values from (10000000000) to (maxvalue);

create table plane.progress (
    job_id    bigint      not null,
    attempt   integer     not null,
    number    bigint      generated always as identity,
    done      bigint      not null,
    total     bigint,
    pushed_at timestamptz,
    message   text,

    constraint progress_pkey primary key (job_id, attempt, number)
);
comment on table plane.progress is
'What attempts report of themselves. The newest row counts; each report removes the one before it. Not partitioned: a
batch that has reported holds a lock on it for as long as it runs.';
comment on column plane.progress.job_id is 'The job.';
comment on column plane.progress.attempt is 'Number of the attempt.';
comment on column plane.progress.number is 'Order of the reports; a row of its own for each, so that no report waits for or walks over older ones.';
comment on column plane.progress.done is 'How much is done.';
comment on column plane.progress.total is 'How much there is to do; NULL is not known.';
comment on column plane.progress.pushed_at is 'When a report of this attempt was last pushed; NULL is never.';
comment on column plane.progress.message is 'What a person reads beside it.';

-- Shapes that several functions return -----------------------------------------------------------

create type plane.claimed_job as (
    job_id           bigint,
    attempt          integer,
    queue            text,
    operation        text,
    version          integer,
    params           jsonb,
    envelope         jsonb,
    dedupe_key       text,
    serial_key       text,
    max_dequeues     integer,
    lease_expires_at timestamptz,
    created_at       timestamptz,
    cache_key        text,
    fresh            boolean
);
comment on type plane.claimed_job is 'What a claim hands to a worker.';
comment on column plane.claimed_job.job_id is 'The job.';
comment on column plane.claimed_job.attempt is 'Number of this claim, from 1; with job_id the fence: only the current attempt may settle or renew.';
comment on column plane.claimed_job.queue is 'Name of its queue.';
comment on column plane.claimed_job.operation is 'What to do.';
comment on column plane.claimed_job.version is 'Version of the operation; NULL when the job was enqueued without one.';
comment on column plane.claimed_job.params is 'Arguments of the operation, an object.';
comment on column plane.claimed_job.envelope is 'Who asked: client, actor, staff, scope; an empty object when the job was enqueued without one.';
comment on column plane.claimed_job.dedupe_key is 'What two live jobs of the queue never share; NULL is none.';
comment on column plane.claimed_job.serial_key is 'Jobs of the queue that share it run one at a time; NULL is none.';
comment on column plane.claimed_job.max_dequeues is 'Claims it may have.';
comment on column plane.claimed_job.lease_expires_at is 'Until when the attempt owns the job, by the wall clock.';
comment on column plane.claimed_job.created_at is 'When it was enqueued.';
comment on column plane.claimed_job.cache_key is 'Jobs that share it have one answer; set by submit_request alone, NULL may share nothing.';
comment on column plane.claimed_job.fresh is 'Its answer may not come from a cache.';

create type plane.job_answer as (
    job_id      bigint,
    scope_key   text,
    status      text,
    progress    jsonb,
    result      json,
    error       json,
    cache       text,
    position    integer,
    created_at  timestamptz,
    claimed_at  timestamptz,
    finished_at timestamptz,
    left_out    boolean
);
comment on type plane.job_answer is 'What a caller may see of a job.';
comment on column plane.job_answer.job_id is 'The job.';
comment on column plane.job_answer.scope_key is 'The scope key that it was read with.';
comment on column plane.job_answer.status is 'pending, waiting, in_progress, cancelling, done, poison or cancelled.';
comment on column plane.job_answer.progress is 'What the attempt that holds or ended it last reported: done, total, message; NULL is nothing.';
comment on column plane.job_answer.result is 'The answer, digit for digit as the worker gave it; NULL until there is one, or when it is an error.';
comment on column plane.job_answer.error is 'A refusal, which is an answer too, or the last failure; NULL is none.';
comment on column plane.job_answer.cache is 'hit (answered from a cache) or coalesced (shared a computation under way); NULL when computed.';
comment on column plane.job_answer.position is 'Place among the jobs ready to be claimed, from 1, at most 1000; NULL when it is not among them.';
comment on column plane.job_answer.created_at is 'When it was enqueued.';
comment on column plane.job_answer.claimed_at is 'When its last attempt began; NULL before the first.';
comment on column plane.job_answer.finished_at is 'When it ended; NULL while it is live.';
comment on column plane.job_answer.left_out is 'Whether result or error is NULL only because max_bytes had been reached.';
