-- What _alone.sql took is given back: the sequence at once, the rest with the end of the transaction.
delete from plane.job;
delete from plane.outcome;
delete from plane.attempt;
delete from plane.progress;
delete from plane.ready;
delete from plane.due;
delete from plane.lease;
delete from plane.live_key;
select setval('plane.job_id_seq', :drawn_before, :'drawn_any') \g /dev/null
