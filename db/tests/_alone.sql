-- The ledger for a test alone, empty, until its transaction ends: upkeep asks who else is there. Every other test begins with
-- a queue, so it has ended when that table is locked, or waits there.
lock table plane.queue in access exclusive mode;
lock table plane.job, plane.outcome, plane.attempt, plane.ready in access exclusive mode;
delete from plane.job;
delete from plane.outcome;
delete from plane.attempt;
delete from plane.ready;
delete from plane.queue;

-- A sequence does not roll back: _together.sql sets it back.
select last_value as drawn_before, is_called as drawn_any from plane.job_id_seq \gset
select setval('plane.job_id_seq', 1, false) \g /dev/null
