"""Which plans the ledger's statements get: told by the server while the functions run."""

import json
from collections.abc import Callable
from typing import Any

import psycopg

from ..support.costs import ENVELOPE, KEY
from ..support.explain import Explaining, faults

OWN = """plane.scope_key('acme', '["north"]', false, 'ann')"""

Call = Callable[..., list[tuple[Any, ...]]]


def work(call: Call) -> None:
    """Calls every function of the hot path, with something to do for each."""
    call("register_worker('w', 'mail')")
    call("claim_one('mail', 'w')")
    for serial_key in (None, "red", "red"):
        call("enqueue('mail', 'send', p_serial_key => %s)", serial_key)
    for priority in (0, -1):
        call("enqueue('mail', 'send', p_dedupe_key => 'a', p_priority => %s)", priority)
    for due in ("1 hour", "0 s"):
        call(
            "enqueue('mail', 'send', p_dedupe_key => 'b', p_available_at => now() + %s::interval)",
            due,
        )
    batch = [
        {"operation": "send"},
        {"operation": "send", "dedupe_key": "a", "priority": -2},
        {"operation": "send", "dedupe_key": "new"},
        {"operation": "send", "dedupe_key": "new", "priority": -1},
        {"operation": "send", "serial_key": "red"},
        {"operation": "send", "serial_key": "blue"},
        {"operation": "send", "available_at": "2100-01-01T00:00Z"},
    ]
    call("enqueue_many('mail', %s::jsonb)", json.dumps(batch))
    ((asked, _),) = call("submit_request('mail', 'send', '{}', %s::jsonb)", ENVELOPE)
    call("submit_request('mail', 'send', '{}', %s::jsonb, p_fresh => true)", ENVELOPE)
    call("submit_request('mail', 'send', '{}', %s::jsonb)", ENVELOPE)
    call(f"register_waiter('mail', %s, {KEY}, 'me', '1 min')", asked)
    waiting = f"array[%s]::bigint[], array[{KEY}], array['you'], '1 min'"
    for _ in range(2):
        call(f"register_waiters('mail', {waiting})", asked)
    ((key,),) = call(f"dedupe_key('mail', 'send', 1, 'acme', {KEY}, '{{}}')")
    call("enqueue('mail', 'send', p_dedupe_key => %s)", key)
    call("enqueue_many('mail', %s::jsonb)", json.dumps([{"operation": "send", "dedupe_key": key}]))
    call(f"leave_job('mail', %s, {KEY}, 'you')", asked)
    call(f"get_job('mail', %s, {KEY})", asked)
    call(f"get_results('mail', array[%s]::bigint[], array[{KEY}])", asked)
    held = [row[:2] for row in call("claim('mail', 'w', 10)")]
    call(f"await_job('mail', %s, {KEY})", asked)
    call(f"await_jobs('mail', array[%s]::bigint[], array[{KEY}])", asked)
    ids, attempts = zip(*held, strict=True)
    call("renew_leases('w', %s::bigint[], %s::int[])", list(ids), list(attempts))
    for done in (1, 2):
        call("report_progress(%s, %s, %s, 2, null)", *held[0], done)
    for job_id, attempt in held:
        call("put_blob(%s, %s, 'text/plain', null, 'abc')", job_id, attempt)
        call("append_blob(%s, %s, 1, 'def')", job_id, attempt)
    answered = next(job for job in held if job[0] == asked)
    held.remove(answered)
    call("complete_job(%s, %s, '{}')", *answered)
    call(f"blob_info('mail', %s, 1, {KEY})", asked)
    call(f"read_blob('mail', %s, 1, {KEY}, 0, 10)", asked)
    call("record_run('mail', 'w', %s, %s, 'send', 'done', now())", *answered)
    call("reap_blobs()")
    cancelled = held.pop()
    for job_id, _ in (cancelled, call("enqueue('mail', 'send', p_serial_key => 'red')")[0]):
        call("request_cancel(%s, 'ann')", job_id)
    call("finish_cancel(%s, %s)", *cancelled)
    call("fail_job(%s, %s, '{}', '0 s')", *held.pop())
    call("release_job(%s, %s)", *held.pop())
    ids, attempts = zip(*held, strict=True)
    call("complete_jobs(%s::bigint[], %s::int[])", list(ids), list(attempts))
    ((poison, _),) = call(
        "enqueue('mail', 'send', p_dedupe_key => gen_random_uuid()::text, p_max_dequeues => 1)"
    )
    for job_id, attempt, *_ in call("claim('mail', 'w', 10)"):
        call("fail_job(%s, %s, '{}')", job_id, attempt)
    call("retry_job(%s)", poison)
    ((left, _),) = call("submit_request('mail', 'send', '{\"n\": 1}', %s::jsonb)", ENVELOPE)
    call(f"leave_job('mail', %s, {KEY}, {OWN})", left)
    call("sweep()")


def test_tables_that_look_empty_are_still_read_by_index(queue_db: str) -> None:
    """A plan is kept for as long as the session lives, and such tables do not stay empty."""
    with psycopg.connect(queue_db, autocommit=True) as connection:
        connection.execute("select plane.create_queue('mail', p_notify => 'waiters')")
        connection.execute(
            """select plane.register_manifest('mail', '[{"name": "send", "version": 1}]')"""
        )
        connection.execute("vacuum analyze")
    seen_empty = plans_of_work(queue_db)
    with psycopg.connect(queue_db, autocommit=True) as connection:
        connection.execute("vacuum analyze")
    seen_hardly_a_row = plans_of_work(queue_db)

    assert seen_empty | seen_hardly_a_row == set()


def plans_of_work(url: str) -> set[tuple[str, str]]:
    """The faults of all plans that a new session makes, with the function called."""
    session = Explaining(url)
    found: set[tuple[str, str]] = set()
    count = 0

    def call(sql: str, *params: object) -> list[tuple[Any, ...]]:
        nonlocal count
        told = session.call(sql, *params)
        count += len(told.statements)
        function = sql.partition("(")[0]
        found.update((function, fault) for of in told.statements for fault in faults(of))
        return told.rows

    work(call)
    session.close()
    assert count > 100
    return found
