"""One working call of each public function, on the jobs of one small situation.

A value is SQL, so that it reads as a caller would write it; `pg_temp.job('held')` is the id of that
job, `pg_temp.attempt('held')` the attempt that holds it.
"""

SITUATION = """
create temporary table situation (name text, job_id bigint, attempt integer);
create function pg_temp.job(text) returns bigint language sql stable
    return (select s.job_id from pg_temp.situation s where s.name = $1);
create function pg_temp.attempt(text) returns integer language sql stable
    return (select s.attempt from pg_temp.situation s where s.name = $1);
create function pg_temp.scope() returns text language sql immutable
    return plane.scope_key('acme', '["north"]', false);

select plane.create_queue('mail'), plane.create_queue('idle'), plane.create_queue('paused');
select plane.pause_queue('paused');
select plane.register_worker('w', 'mail');
select plane.register_manifest('mail', '[{"name": "ask", "version": 1}]');

insert into situation (name, job_id)
    select 'answered', job_id from plane.submit_request('mail', 'ask', '{"n": 0}',
        '{"client": "acme", "actor": "ann", "staff": false, "scope": ["north"]}');
update situation set attempt = c.attempt from plane.claim_one('mail', 'w') as c;
select plane.put_blob(pg_temp.job('answered'), 1, 'text/plain', 'a.txt', 'abc'),
    plane.complete_job(pg_temp.job('answered'), 1, '{"blob": 1}');

select plane.submit_request('mail', 'ask', '{"n": 1}',
    '{"client": "acme", "actor": "ann", "staff": false, "scope": ["north"]}');
insert into situation select 'held', job_id, attempt from plane.claim_one('mail', 'w');
select plane.put_blob(pg_temp.job('held'), 1, 'text/plain', null, 'abc');
select plane.enqueue('mail', 'send');
insert into situation select 'cancelling', job_id, attempt from plane.claim_one('mail', 'w');
select plane.request_cancel(pg_temp.job('cancelling'), 'ann');
select plane.enqueue('mail', 'send', p_max_dequeues => 1);
insert into situation select 'poison', job_id, attempt from plane.claim_one('mail', 'w');
select plane.fail_job(pg_temp.job('poison'), pg_temp.attempt('poison'), '{"message": "no"}');
insert into situation select 'pending', job_id from plane.enqueue('mail', 'send');
insert into situation
    select 'asked', job_id from plane.submit_request('mail', 'ask', '{}',
        '{"client": "acme", "actor": "ann", "staff": false, "scope": ["north"]}');
select plane.register_waiter('mail', pg_temp.job('asked'), pg_temp.scope(), 'me', '1 minute');
"""

HELD = {"p_job_id": "pg_temp.job('held')", "p_attempt": "pg_temp.attempt('held')"}
ASKED = {
    "p_queue": "'mail'",
    "p_job_id": "pg_temp.job('asked')",
    "p_scope_key": "pg_temp.scope()",
}
ASKED_MANY = {
    "p_queue": "'mail'",
    "p_job_ids": "array[pg_temp.job('asked')]",
    "p_scope_keys": "array[pg_temp.scope()]",
}

BLOB = {
    "p_queue": "'mail'",
    "p_job_id": "pg_temp.job('answered')",
    "p_blob": "1",
    "p_scope_key": "pg_temp.scope()",
}

EXAMPLES: dict[str, dict[str, str]] = {
    "append_blob": {**HELD, "p_blob": "1", "p_data": "'def'"},
    "await_job": ASKED,
    "await_jobs": {**ASKED_MANY, "p_max_bytes": "1000"},
    "blob_info": BLOB,
    "claim": {"p_queue": "'mail'", "p_worker": "'w'", "p_n": "2"},
    "claim_one": {"p_queue": "'mail'", "p_worker": "'w'"},
    "complete_job": {
        **HELD,
        "p_result": "'{}'",
        "p_error": "null",
        "p_cache": "'hit'",
        "p_blobs_of": "pg_temp.job('answered')",
    },
    "complete_jobs": {
        "p_job_ids": "array[pg_temp.job('held')]",
        "p_attempts": "array[pg_temp.attempt('held')]",
        "p_results": "array['{}'::json]",
        "p_errors": "array[null::json]",
        "p_caches": "array['hit']",
        "p_blobs_of": "array[pg_temp.job('answered')]",
    },
    "create_queue": {
        "p_queue": "'post'",
        "p_lease": "'1 minute'",
        "p_max_dequeues": "3",
        "p_backoff": "'1 second'",
        "p_backoff_factor": "2",
        "p_backoff_cap": "'1 minute'",
        "p_retention": "'1 day'",
        "p_max_depth": "1000",
        "p_notify": "'waiters'",
        "p_blob_retention": "'1 hour'",
        "p_poison_retention": "'1 year'",
    },
    "dedupe_key": {
        "p_surface": "'mail'",
        "p_operation": "'ask'",
        "p_version": "1",
        "p_client": "'acme'",
        "p_scope_key": "pg_temp.scope()",
        "p_params": "'{}'",
    },
    "drop_queue": {"p_queue": "'idle'"},
    "enqueue": {
        "p_queue": "'mail'",
        "p_operation": "'send'",
        "p_params": """'{"to": "ann"}'""",
        "p_envelope": "'{}'",
        "p_dedupe_key": "'b'",
        "p_serial_key": "'red'",
        "p_priority": "1",
        "p_available_at": "now() + interval '1 hour'",
        "p_max_dequeues": "2",
        "p_version": "1",
    },
    "enqueue_many": {
        "p_queue": "'mail'",
        "p_jobs": """'[{"operation": "send", "params": {}, "envelope": {}, "dedupe_key": "b",
            "serial_key": "red", "priority": 1, "available_at": "2100-01-01T00:00Z",
            "max_dequeues": 2, "version": 1}]'""",
    },
    "fail_job": {**HELD, "p_error": """'{"message": "no"}'""", "p_retry_in": "'1 second'"},
    "finish_cancel": {
        "p_job_id": "pg_temp.job('cancelling')",
        "p_attempt": "pg_temp.attempt('cancelling')",
        "p_result": "'{}'",
    },
    "get_job": ASKED,
    "get_manifest": {"p_queue": "'mail'"},
    "get_results": {**ASKED_MANY, "p_max_bytes": "1000"},
    "health": {"p_newest": "1000"},
    "leave_job": {**ASKED, "p_waiter": "'me'"},
    "maintain": {},
    "pause_queue": {"p_queue": "'mail'"},
    "put_blob": {
        **HELD,
        "p_content_type": "'text/csv'",
        "p_filename": "'b.csv'",
        "p_data": "'a,b'",
    },
    "read_blob": {**BLOB, "p_from": "1", "p_length": "2"},
    "reap_blobs": {"p_limit": "10"},
    "record_run": {
        "p_queue": "'mail'",
        "p_worker": "'w'",
        "p_job_id": "pg_temp.job('answered')",
        "p_attempt": "1",
        "p_operation": "'ask'",
        "p_outcome": "'done'",
        "p_started_at": "now()",
        "p_version": "1",
        "p_cache": "'hit'",
        "p_queue_wait_ms": "1.5",
        "p_wall_ms": "2.5",
        "p_cpu_ms": "0.5",
        "p_rss_bytes": "1000000",
    },
    "register_manifest": {
        "p_queue": "'mail'",
        "p_operations": """'[{"name": "ask", "version": 2, "params": {}, "ttl_seconds": 60,
            "timeout_seconds": 10, "per_actor": true}]'""",
    },
    "register_waiter": {
        **ASKED,
        "p_waiter": "'you'",
        "p_wait": "'1 hour'",
    },
    "register_waiters": {
        **ASKED_MANY,
        "p_waiters": "array['you']",
        "p_wait": "'1 hour'",
    },
    "register_worker": {"p_worker": "'v'", "p_queue": "'mail'", "p_info": """'{"pid": 1}'"""},
    "release_job": HELD,
    "renew_leases": {
        "p_worker": "'w'",
        "p_job_ids": "array[pg_temp.job('held')]",
        "p_attempts": "array[pg_temp.attempt('held')]",
    },
    "report_progress": {**HELD, "p_done": "1", "p_total": "2", "p_message": "'half'"},
    "request_cancel": {"p_job_id": "pg_temp.job('pending')", "p_by": "'ann'"},
    "resume_queue": {"p_queue": "'paused'"},
    "retry_job": {"p_job_id": "pg_temp.job('poison')"},
    "retry_poison": {
        "p_queue": "'mail'",
        "p_operation": "'send'",
        "p_limit": "10",
        "p_spread": "'1 minute'",
    },
    "scope_key": {
        "p_client": "'acme'",
        "p_scope": """'["north"]'""",
        "p_staff": "false",
        "p_actor": "'ann'",
    },
    "submit_request": {
        "p_queue": "'mail'",
        "p_operation": "'ask'",
        "p_params": """'{"n": 2}'""",
        "p_envelope": """'{"client": "acme", "actor": "ann", "staff": false,
            "scope": ["north"]}'""",
        "p_version": "1",
        "p_fresh": "false",
    },
    "sweep": {"p_limit": "10"},
    "ticket_key": {},
    "why": {"p_job_id": "pg_temp.job('pending')"},
}

SILENT = {"health", "maintain"}
"""What has no rows to give when all is well."""
