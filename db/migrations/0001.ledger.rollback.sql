drop type plane.job_answer, plane.claimed_job;
drop table plane.progress, plane.attempt, plane.outcome, plane.waiter, plane.secret, plane.live_key, plane.lease, plane.stalled_line,
    plane.waiting, plane.line, plane.due, plane.ready, plane.job, plane.operation, plane.worker, plane.queue;
drop sequence plane.job_id_seq;
