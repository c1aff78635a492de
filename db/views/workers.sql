-- workers: who serves which queue, and when it was last seen.
create or replace view plane.workers as
select w.name as worker, q.name as queue, w.info, w.asleep, w.registered_at, w.seen_at
from plane.worker w
join plane.queue q on q.id = w.queue_id;

revoke all on plane.workers from public;
grant select on plane.workers to plane_admin;

comment on view plane.workers is 'Who serves which queue, and when it was last seen.';
comment on column plane.workers.worker is 'Name of the worker.';
comment on column plane.workers.queue is 'Queue that it serves.';
comment on column plane.workers.info is 'What it says of itself.';
comment on column plane.workers.asleep is 'Its last claim came back empty (kept for queues with notify waiters only).';
comment on column plane.workers.registered_at is 'When it last started.';
comment on column plane.workers.seen_at is 'Its last heartbeat.';
