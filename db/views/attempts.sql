-- attempts: each attempt at each job, ended or under way.
create or replace view plane.attempts as
select a.job_id, a.attempt, a.locked_by as worker, a.claimed_at, a.ended_at, a.outcome, a.error, a.replaced
from plane.attempt a
union all
select o.job_id, o.attempt, o.locked_by, o.claimed_at, o.finished_at, o.status, o.error, o.replaced
from plane.outcome o
where o.status = 'done' and o.attempt > 0
union all
select l.job_id, l.attempt, l.locked_by, l.claimed_at, null,
    case when l.cancelled_by is null then 'in_progress' else 'cancelling' end, null, false
from plane.lease l;

revoke all on plane.attempts from public;
grant select on plane.attempts to plane_admin;

comment on view plane.attempts is 'Each attempt at each job, ended or under way.';
comment on column plane.attempts.job_id is 'The job.';
comment on column plane.attempts.attempt is 'Number of the attempt.';
comment on column plane.attempts.worker is 'Who made it.';
comment on column plane.attempts.claimed_at is 'When it began.';
comment on column plane.attempts.ended_at is 'When it ended; NULL while it runs.';
comment on column plane.attempts.outcome is 'done, failed, lapsed, released or cancelled; in_progress or cancelling while it runs.';
comment on column plane.attempts.error is 'What it failed with, or the refusal it answered.';
comment on column plane.attempts.replaced is 'Content that no text can hold (a NUL, half a surrogate pair) was replaced by U+FFFD.';
