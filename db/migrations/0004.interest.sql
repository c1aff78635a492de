-- Interest: who wants a job, beside who is told of its end. A request's job that nobody wants any more is cancelled by
-- plane.leave_job. The one who asked first is not noted here: plane.job says who that is.

alter table plane.waiter
    add column state text not null default 'waits',
    add constraint waiter_state_check check (state in ('waits', 'wants', 'left'));
comment on table plane.waiter is 'Who waits for which job or wants it, until when.';
comment on column plane.waiter.waiter is 'Name of the one who waits or wants it.';
comment on column plane.waiter.deadline is 'When that is over; infinity where an application joined it or somebody retried it.';
comment on column plane.waiter.state is
'waits (is told of the end, and wants it), wants (joined it) or left (asked for it first, and wants it no more).';
