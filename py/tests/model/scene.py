"""The database in which the ledger and its model meet: two queues, two scopes, nothing else."""

import json
from dataclasses import dataclass

import psycopg

from .asking import OPERATION, request_key
from .world import Queue

SCOPES = ("north", "south")
ACTORS = ("ann", "bob")
WORDS = ("one", "two")
QUEUES = (
    Queue("mail", lease=60, max_dequeues=3, backoff=10, factor=1, notify="always"),
    Queue("post", lease=30, max_dequeues=2, backoff=20, factor=2, notify="waiters"),
)


@dataclass(frozen=True)
class Keys:
    """The keys of scopes, of callers (by scope and actor) and of requests (by queue and name)."""

    scopes: dict[str, str]
    callers: dict[tuple[str, str], str]
    requests: dict[tuple[str, str], str]


def prepare(connection: psycopg.Connection) -> Keys:
    """Empty the ledger and make the queues."""
    # a wait ends when a step ends it; the view of all jobs is looked at all the time
    for setting in ("deadlock_timeout = '1 h'", "jit = off"):
        connection.execute(f"set {setting}")
        connection.execute(f"alter database {connection.info.dbname} set {setting}")
    # how long a call waits is for the test to say
    for function in ("submit_request", "await_job", "leave_job"):
        connection.execute(f"alter function plane.{function} reset lock_timeout")
    tables = connection.execute(
        "select format('plane.%I', tablename) from pg_tables where schemaname = 'plane'"
    )
    connection.execute("truncate " + ", ".join(table for (table,) in tables))
    for queue in QUEUES:
        connection.execute(
            "select plane.create_queue(%s, make_interval(secs => %s), %s,"
            " make_interval(secs => %s), %s, p_notify => %s)",
            (
                queue.name, queue.lease, queue.max_dequeues, queue.backoff, queue.factor,
                queue.notify,
            ),
        )  # fmt: skip
        operations = json.dumps([{"name": OPERATION, "version": 1}])
        connection.execute(
            "select plane.register_manifest(%s, %s::jsonb)", (queue.name, operations)
        )
    connection.execute("listen plane_done")
    return keys_of(connection)


def keys_of(connection: psycopg.Connection) -> Keys:
    """The keys of all who ask, and of all that they ask."""

    def key(function: str, *arguments: object) -> str:
        row = connection.execute(f"select plane.{function}", arguments).fetchone()
        assert row is not None
        return str(row[0])

    scope_key = "scope_key('acme', jsonb_build_array(%s::text), false, %s)"
    dedupe_key = "dedupe_key(%s, %s, 1, 'acme', %s, %s::jsonb)"
    scopes = {scope: key(scope_key, scope, None) for scope in SCOPES}
    return Keys(
        scopes,
        {(scope, actor): key(scope_key, scope, actor) for scope in SCOPES for actor in ACTORS},
        {
            (queue.name, request_key(scope, word)): key(
                dedupe_key, queue.name, OPERATION, scopes[scope], json.dumps({"word": word})
            )
            for queue in QUEUES
            for scope in SCOPES
            for word in WORDS
        },
    )


def envelope(scope: str | None, actor: str) -> str:
    """Who asks, as a request says it."""
    return json.dumps({"client": "acme", "actor": actor, "staff": False, "scope": [scope]})
