"""The database in which the ledger and its model meet: two queues, two scopes, nothing else."""

import json

import psycopg

from .asking import OPERATION
from .world import Queue

SCOPES = ("north", "south")
QUEUES = (
    Queue("mail", lease=60, max_dequeues=3, backoff=10, factor=1, notify="always"),
    Queue("post", lease=30, max_dequeues=2, backoff=20, factor=2, notify="waiters"),
)


def prepare(connection: psycopg.Connection) -> dict[str, str]:
    """Empty the ledger and make the queues; returns the key of each scope."""
    # a wait ends when a step ends it; the view of all jobs is looked at all the time
    for setting in ("deadlock_timeout = '1 h'", "jit = off"):
        connection.execute(f"set {setting}")
        connection.execute(f"alter database {connection.info.dbname} set {setting}")
    # how long a call waits is for the test to say
    for function in ("submit_request", "await_job"):
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
    keys = connection.execute(
        "select s, plane.scope_key('acme', jsonb_build_array(s), false) from unnest(%s::text[]) s",
        (list(SCOPES),),
    )
    return dict(keys.fetchall())


def envelope(scope: str | None) -> str:
    """Who asks, as a request says it."""
    return json.dumps({"client": "acme", "actor": "ann", "staff": False, "scope": [scope]})
