-- Raises unless every table of the ledger is there with the columns that functions rely on.
select id, name, lease, max_dequeues, backoff, backoff_factor, backoff_cap, retention, poison_retention, max_depth, notify, lanes, paused_at, created_at from plane.queue where false;
select name, queue_id, info, asleep, registered_at, seen_at from plane.worker where false;
select queue_id, name, version, params_schema, ttl_seconds, timeout_seconds, per_actor, registered_at from plane.operation where false;
select id, queue_id, priority, by_request, version, max_dequeues, created_at, available_at, operation, dedupe_key, serial_key, scope_key, params, envelope from plane.job where false;
select queue_id, lane, pos, job_id, dequeue_count, max_dequeues, fresh from plane.ready where false;
select job_id, queue_id, priority, available_at, reason, dequeue_count, max_dequeues, fresh from plane.due where false;
select queue_id, serial_key, job_id from plane.line where false;
select queue_id, serial_key, pos, job_id, priority, max_dequeues, dequeue_count, fresh from plane.waiting where false;
select queue_id, serial_key, job_id from plane.stalled_line where false;
select job_id, queue_id, attempt, max_dequeues, priority, fresh, claimed_at, expires_at, live_key, locked_by, cancelled_by, serial_key from plane.lease where false;
select key, job_id from plane.live_key where false;
select job_id, waiter, deadline from plane.waiter where false;
select name, value from plane.secret where false;
select job_id, attempt, max_dequeues, claimed_at, finished_at, replaced, status, cache, locked_by, result, error from plane.outcome where false;
select job_id, attempt, claimed_at, ended_at, replaced, outcome, locked_by, error from plane.attempt where false;
select job_id, attempt, number, done, total, pushed_at, message from plane.progress where false;
select null::plane.claimed_job, null::plane.job_answer, last_value, is_called from plane.job_id_seq where false;
