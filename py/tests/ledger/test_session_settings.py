"""Whatever a session has set, by a pool or a role's defaults: a life of jobs goes the same way."""

from typing import Any

import psycopg
import pytest

SETTINGS: dict[str, dict[str, str]] = {
    "formats": {
        "DateStyle": "SQL, DMY",
        "IntervalStyle": "sql_standard",
        "TimeZone": "Asia/Kathmandu",
        "bytea_output": "escape",
        "extra_float_digits": "-15",
        "client_encoding": "LATIN1",
        "lc_messages": "C",
        "lc_numeric": "C",
        "array_nulls": "off",
        "quote_all_identifiers": "on",
    },
    "strings": {"standard_conforming_strings": "off", "escape_string_warning": "off"},
    "nulls": {"transform_null_equals": "on", "default_transaction_deferrable": "on"},
    "names": {"search_path": "pg_temp, plane, pg_catalog", "check_function_bodies": "on"},
    "repeatable read": {"default_transaction_isolation": "repeatable read"},
    "serializable": {"default_transaction_isolation": "serializable"},
    "planner": {
        "enable_indexscan": "off",
        "enable_indexonlyscan": "off",
        "enable_nestloop": "off",
        "plan_cache_mode": "force_custom_plan",
        "jit_above_cost": "0",
        "from_collapse_limit": "1",
        "join_collapse_limit": "1",
        "work_mem": "64kB",
    },
}

SHADOWS = """
create temporary table job (id bigint);
create temporary table ready (pos bigint);
create function pg_temp.now() returns timestamptz language sql return '-infinity'::timestamptz;
create function pg_temp.length(text) returns integer language sql return 0;
create function pg_temp._now() returns timestamptz language sql return 'infinity'::timestamptz;
"""
"""What a caller may have before ours on a path of its own."""

ENVELOPE = '{"client": "acme", "actor": "ann", "staff": false, "scope": ["b", "a", "b"]}'
BATCH = """[
    {"operation": "soon", "available_at": "2030-01-01T00:00:01.5Z"},
    {"operation": "then", "available_at": "2029-12-31T23:59:59+01:00", "serial_key": "red"},
    {"operation": "now", "dedupe_key": "c", "priority": -1, "max_dequeues": 1}]"""
NUL = r'{"m": "\u0000 \\u0000"}'


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_a_life_of_jobs_goes_the_same_way_whatever_a_session_has_set(
    queue_db: str, settings: dict[str, str]
) -> None:
    with psycopg.connect(queue_db, autocommit=True) as connection:
        stand_still_at(connection, "2030-01-01 00:00Z")
        connection.execute(SHADOWS)
        for name, value in settings.items():
            connection.execute("select set_config(%s, %s, false)", (name, value))
        begin(connection)
        stand_still_at(connection, "2030-01-01 00:00:02Z")
        end(connection)

    with psycopg.connect(queue_db, autocommit=True) as onlooker:
        jobs = onlooker.execute(
            "select operation, status, priority, dequeue_count, result::text, error::text"
            " from plane.jobs order by operation"
        ).fetchall()
    replaced = r'{"m": "\ufffd \\u0000"}'
    assert jobs == [
        ("ask", "done", 0, 1, '{"n": 1.10}', None),
        ("now", "poison", -1, 1, None, replaced),
        ("send", "done", 0, 2, replaced, None),
        ("soon", "done", 0, 1, '{"n": 1.10}', None),
        ("then", "done", 0, 1, '{"n": 1.10}', None),
    ]


def test_a_body_with_a_backslash_says_how_it_is_read(queue_db: str) -> None:
    """Else it is read as the first caller of each session reads literals."""
    with psycopg.connect(queue_db) as connection:
        found = connection.execute(
            r"""
            select p.proname
            from pg_proc p
            where p.pronamespace = 'plane'::regnamespace and p.prosqlbody is null
                and regexp_replace(p.prosrc, '--[^\n]*', '', 'g') ~ '\\'
                and not coalesce(p.proconfig, '{}') @> '{standard_conforming_strings=on}'
            """
        ).fetchall()
    # this one writes E'…', which reads the same everywhere
    assert {name for (name,) in found} == {"_repaired"}


def begin(connection: psycopg.Connection) -> None:
    """Everything is asked for, and tried once."""
    call(connection, "create_queue('mail', p_backoff => '1.5 s', p_notify => 'waiters')")
    manifest = '[{"name": "ask", "version": 1.0, "ttl_seconds": 6e1}]'
    call(connection, "register_manifest('mail', %s::jsonb)", manifest)
    call(connection, "register_worker('w', 'mail')")
    assert call(connection, "claim_one('mail', 'w')") == []
    keys = "p_dedupe_key => 'a', p_serial_key => 'red'"
    ((send, _),) = call(connection, f"enqueue('mail', 'send', {keys})")
    assert call(connection, f"enqueue('mail', 'send', {keys})") == [(send, True)]
    assert len(call(connection, "enqueue_many('mail', %s::jsonb)", BATCH)) == 3
    call(connection, "submit_request('mail', 'ask', %s::jsonb, %s::jsonb)", '{"n": 1}', ENVELOPE)

    held = {row[3]: row[:2] for row in call(connection, "claim('mail', 'w', 10)")}
    assert list(held) == ["now", "send", "ask"]
    assert call(connection, "report_progress(%s, %s, 1, 2, 'half')", *held["ask"]) == [("held",)]
    renewed = call(
        connection, "renew_leases('w', array[%s, 99]::bigint[], array[%s, 1])", *held["ask"]
    )
    assert [row[:2] for row in renewed] == [(held["ask"][0], "held"), (99, "lost")]
    assert call(connection, "fail_job(%s, %s, %s::json)", *held["now"], NUL) == [("poison",)]
    assert call(connection, "fail_job(%s, %s, %s::json)", *held["send"], NUL) == [("pending",)]
    blob = "put_blob(%s, %s, 'text/csv; charset=utf-8', 'a b.csv', 'abc')"
    assert call(connection, blob, *held["ask"]) == [(1,)]
    answer = '{"n": 1.10}'
    assert call(connection, "complete_job(%s, %s, %s::json)", *held["ask"], answer) == [(True,)]
    assert call(connection, "claim_one('mail', 'w')") == []


def end(connection: psycopg.Connection) -> None:
    """The rest is due by now: first what was tried before, then the others as they came."""
    ended = []
    while claimed := call(connection, "claim_one('mail', 'w')"):
        ((job_id, attempt, _, operation, *_),) = claimed
        result = NUL if operation == "send" else '{"n": 1.10}'
        assert call(
            connection,
            "complete_jobs(array[%s]::bigint[], array[%s], array[%s]::json[])",
            *(job_id, attempt, result),
        ) == [(job_id, True)]
        ended.append(operation)
    assert ended == ["send", "soon", "then"]


def call(connection: psycopg.Connection, sql: str, *params: Any) -> list[tuple[Any, ...]]:
    """A function's rows, times as text."""
    for kind in ("timestamptz", "interval"):
        connection.adapters.register_loader(kind, psycopg.types.string.TextLoader)
    return connection.execute(f"select * from plane.{sql}", params or None).fetchall()


def stand_still_at(connection: psycopg.Connection, moment: str) -> None:
    connection.execute(
        "create or replace function plane._now() returns timestamptz language sql volatile"
        f" return timestamptz '{moment}'"
    )
