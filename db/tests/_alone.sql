-- The ledger for a test alone, empty, until its transaction ends: upkeep asks who else is there, and how full the tables are.
-- Every other test begins with a queue, so it has ended when that table is locked, or waits there.
lock table plane.queue in access exclusive mode;
truncate plane.queue, plane.worker, plane.operation, plane.job, plane.outcome, plane.attempt, plane.progress, plane.ready,
    plane.due, plane.line, plane.waiting, plane.stalled_line, plane.lease, plane.live_key, plane.run;

-- A sequence does not roll back: _together.sql sets it back.
select last_value as drawn_before, is_called as drawn_any from plane.job_id_seq \gset
select setval('plane.job_id_seq', 1, false) \g /dev/null
