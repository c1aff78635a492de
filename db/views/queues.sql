-- queues: every queue with its settings.
create or replace view plane.queues as
select q.name as queue, q.lease, q.max_dequeues, q.backoff, q.backoff_factor, q.backoff_cap, q.retention, q.poison_retention,
    q.blob_retention, q.max_depth, q.notify, q.paused_at, q.created_at
from plane.queue q;

revoke all on plane.queues from public;
grant select on plane.queues to plane_admin;

comment on view plane.queues is 'Every queue with its settings.';
comment on column plane.queues.queue is 'Name of the queue.';
comment on column plane.queues.lease is 'How long an attempt owns a job before it must renew.';
comment on column plane.queues.max_dequeues is 'Attempts before a job is poison.';
comment on column plane.queues.backoff is 'Pause after the first failed attempt.';
comment on column plane.queues.backoff_factor is 'Growth of the pause from failure to failure.';
comment on column plane.queues.backoff_cap is 'The longest pause.';
comment on column plane.queues.retention is 'How long done and cancelled jobs are kept at least.';
comment on column plane.queues.poison_retention is 'How long poison is kept at least; NULL is for ever.';
comment on column plane.queues.blob_retention is 'How long blobs can be read after their job has finished.';
comment on column plane.queues.max_depth is 'Jobs that may wait; NULL is no limit.';
comment on column plane.queues.notify is 'Who is told of new and finished jobs: always, waiters, never.';
comment on column plane.queues.paused_at is 'Since when it hands out nothing; NULL is not paused.';
comment on column plane.queues.created_at is 'When the queue was created.';
