delete from plane.waiter where state <> 'waits' or not isfinite(deadline);
alter table plane.waiter drop column state;
comment on table plane.waiter is 'Who waits for which job, until when.';
comment on column plane.waiter.waiter is 'Name of the one who waits.';
comment on column plane.waiter.deadline is 'When it stops waiting.';
