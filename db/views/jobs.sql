-- jobs: every job, live and finished alike. A constant status in each branch lets a filter skip the others.
create or replace view plane.jobs as
select
    j.id, q.name as queue, j.operation, j.version, j.params, j.envelope, j.scope_key, j.dedupe_key, j.serial_key,
    s.priority, s.status, s.dequeue_count, s.max_dequeues, s.available_at, s.locked_by, s.lease_expires_at,
    (
        select jsonb_build_object('done', p.done, 'total', p.total, 'message', p.message)
        from plane.progress p
        where p.job_id = s.job_id and p.attempt = s.reporting
        order by p.number desc
        limit 1
    ) as progress,
    s.result, s.error, s.cache, j.created_at, s.claimed_at, s.finished_at
from (
    -- straight from enqueue: its position is its id
    select j.id as job_id, j.priority::integer, 'pending' as status, r.dequeue_count, r.max_dequeues,
        j.created_at as available_at, null::text as locked_by, null::timestamptz as lease_expires_at,
        null::integer as reporting, null::json as result, null::json as error, null::text as cache,
        null::timestamptz as claimed_at, null::timestamptz as finished_at
    from plane.job j
    join plane.ready r on r.queue_id = j.queue_id and r.lane = 2 * j.priority + 1 and r.pos = j.id
    union all
    -- came back, became due or was pulled forward
    select r.job_id, r.lane >> 1, 'pending', r.dequeue_count, r.max_dequeues,
        null, null, null, null, null, null, null, null, null
    from plane.ready r
    where r.pos <> r.job_id
    union all
    select d.job_id, d.priority, 'pending', d.dequeue_count, d.max_dequeues,
        d.available_at, null, null, null, null, null, null, null, null
    from plane.due d
    union all
    select w.job_id, w.priority, 'waiting', w.dequeue_count, w.max_dequeues,
        null, null, null, null, null, null, null, null, null
    from plane.waiting w
    union all
    select l.job_id, l.priority, 'in_progress', l.attempt, l.max_dequeues,
        null, l.locked_by, l.expires_at, l.attempt, null, null, null, l.claimed_at, null
    from plane.lease l
    where l.cancelled_by is null
    union all
    select l.job_id, l.priority, 'cancelling', l.attempt, l.max_dequeues,
        null, l.locked_by, l.expires_at, l.attempt, null, null, null, l.claimed_at, null
    from plane.lease l
    where l.cancelled_by is not null
    union all
    select o.job_id, j.priority, o.status, o.attempt, o.max_dequeues,
        null, o.locked_by, null, o.attempt, o.result, o.error, o.cache, o.claimed_at, o.finished_at
    from plane.outcome o
    join plane.job j on j.id = o.job_id
) as s
join plane.job j on j.id = s.job_id
join plane.queue q on q.id = j.queue_id;

revoke all on plane.jobs from public;
grant select on plane.jobs to plane_admin;

comment on view plane.jobs is 'Every job, live and finished alike, one row each.';
comment on column plane.jobs.id is 'Id of the job.';
comment on column plane.jobs.queue is 'Its queue.';
comment on column plane.jobs.operation is 'What to do.';
comment on column plane.jobs.version is 'Version of the operation.';
comment on column plane.jobs.params is 'Arguments of the operation.';
comment on column plane.jobs.envelope is 'Who asked: client, actor, staff, scope.';
comment on column plane.jobs.scope_key is 'Who may read it by plane.get_job.';
comment on column plane.jobs.dedupe_key is 'Two live jobs of a queue never share it.';
comment on column plane.jobs.serial_key is 'Jobs of a queue that share it run one at a time.';
comment on column plane.jobs.priority is 'Its priority now; lower is sooner.';
comment on column plane.jobs.status is 'pending, waiting, in_progress, cancelling, done, poison or cancelled.';
comment on column plane.jobs.dequeue_count is 'Attempts so far.';
comment on column plane.jobs.max_dequeues is 'Attempts it may have.';
comment on column plane.jobs.available_at is 'When a pending job became or becomes claimable; NULL where that is not kept.';
comment on column plane.jobs.locked_by is 'The worker that holds it, or ended it.';
comment on column plane.jobs.lease_expires_at is 'Until when the attempt owns it.';
comment on column plane.jobs.progress is 'What the attempt that holds or ended it last reported: done, total, message.';
comment on column plane.jobs.result is 'The answer.';
comment on column plane.jobs.error is 'A refusal, which is an answer too, or the last failure.';
comment on column plane.jobs.cache is 'hit, coalesced, or NULL when computed.';
comment on column plane.jobs.created_at is 'When it was enqueued.';
comment on column plane.jobs.claimed_at is 'When its latest attempt began.';
comment on column plane.jobs.finished_at is 'When it ended.';
