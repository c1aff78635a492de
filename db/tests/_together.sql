-- What _alone.sql took is given back: the sequence at once, all else with the end of the transaction.
truncate plane.queue, plane.worker, plane.operation, plane.job, plane.outcome, plane.attempt, plane.progress, plane.ready,
    plane.due, plane.line, plane.waiting, plane.stalled_line, plane.lease, plane.live_key;
select setval('plane.job_id_seq', :drawn_before, :'drawn_any') \g /dev/null
