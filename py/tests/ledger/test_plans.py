"""Which plans the ledger's statements get: told by the server while the functions run."""

import json
import re
from collections.abc import Iterator

import psycopg
import pytest

HOT = (
    "attempt|due|job|lease|line|live_key|outcome|progress|ready|stalled_line|waiter|waiting|worker"
)
FORBIDDEN = re.compile(rf"(?:Seq Scan on (?:{HOT})(?:_\d+)?\b|Hash Join|Merge Join|JIT:).*")
ENVELOPE = '{"client": "acme", "actor": "ann", "staff": false, "scope": ["north"]}'
KEY = """plane.scope_key('acme', '["north"]', false)"""

Connection = psycopg.Connection[tuple[object, ...]]


@pytest.fixture
def connection(queue_db: str) -> Iterator[Connection]:
    """A session on a ledger whose statistics say that each table has hardly a row."""
    with psycopg.connect(queue_db, autocommit=True) as connection:
        connection.execute("select plane.create_queue('mail', p_notify => 'waiters')")
        connection.execute(
            """select plane.register_manifest('mail', '[{"name": "send", "version": 1}]')"""
        )
        work(connection)
        connection.execute("vacuum analyze")
    # another session: plans that the first one made are not known here
    with psycopg.connect(queue_db, autocommit=True) as connection:
        yield connection


def work(connection: Connection) -> None:
    """Calls every function of the hot path, with something to do for each."""

    def call(sql: str, *params: object) -> list[tuple[object, ...]]:
        return connection.execute(f"select * from plane.{sql}", params or None).fetchall()

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
    call(f"register_waiter('mail', %s, {KEY}, 'me', now() + interval '1 min')", asked)
    call(f"get_job('mail', %s, {KEY})", asked)
    call(f"get_results('mail', array[%s]::bigint[], array[{KEY}])", asked)
    held = [row[:2] for row in call("claim('mail', 'w', 10)")]
    call(f"await_job('mail', %s, {KEY})", asked)
    ids, attempts = zip(*held, strict=True)
    call("renew_leases('w', %s::bigint[], %s::int[])", list(ids), list(attempts))
    for done in (1, 2):
        call("report_progress(%s, %s, %s, 2, null)", *held[0], done)
    cancelled = held.pop()
    for job_id, _ in (cancelled, call("enqueue('mail', 'send', p_serial_key => 'red')")[0]):
        call("request_cancel(%s, 'ann')", job_id)
    call("finish_cancel(%s, %s)", *cancelled)
    call("fail_job(%s, %s, '{}', '0 s')", *held.pop())
    call("release_job(%s, %s)", *held.pop())
    call("complete_job(%s, %s, '{}')", *held.pop())
    ids, attempts = zip(*held, strict=True)
    call("complete_jobs(%s::bigint[], %s::int[])", list(ids), list(attempts))
    ((poison, _),) = call(
        "enqueue('mail', 'send', p_dedupe_key => gen_random_uuid()::text, p_max_dequeues => 1)"
    )
    for job_id, attempt, *_ in call("claim('mail', 'w', 10)"):
        call("fail_job(%s, %s, '{}')", job_id, attempt)
    call("retry_job(%s)", poison)
    call("sweep()")


def test_tables_that_look_empty_are_still_read_by_index(connection: Connection) -> None:
    """A plan is kept for as long as the session lives, and such tables do not stay empty."""
    plans: list[str] = []
    connection.add_notice_handler(lambda notice: plans.append(notice.message_primary or ""))
    connection.execute("load 'auto_explain'")
    for setting in ("log_min_duration = 0", "log_nested_statements = on", "log_level = notice"):
        connection.execute(f"set auto_explain.{setting}")

    work(connection)

    assert len(plans) > 100
    found = {
        (match.group(), plan.partition("Query Text:")[2].partition("\n")[0][:100])
        for plan in plans
        for match in FORBIDDEN.finditer(plan)
    }
    assert found == set()
