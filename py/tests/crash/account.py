"""What clients were told, and whether the ledger stands by it."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import cycle
from typing import Any

import psycopg

from ..support.oracle import broken

TERMINAL = {"done", "poison", "cancelled"}


class Account:
    """What the server has acknowledged."""

    def __init__(self) -> None:
        self.enqueued: dict[int, str | None] = {}
        self.rolled_back: set[str] = set()
        self.completed: dict[int, list[tuple[int, str]]] = defaultdict(list)
        self.cancelled: set[int] = set()

    def __len__(self) -> int:
        return len(self.enqueued) + sum(map(len, self.completed.values()))

    def note(self, told: dict[str, Any]) -> None:
        """One line of a client."""
        if "enqueued" in told:
            self.enqueued[told["enqueued"]] = told["token"] or self.enqueued.get(told["enqueued"])
        elif "completed" in told:
            self.completed[told["completed"]].append((told["attempt"], told["by"]))
        elif "cancelled" in told:
            self.cancelled.add(told["cancelled"])
        else:
            self.rolled_back.add(told["rolled_back"])

    def settle(self, url: str) -> None:
        """After draining: everything acknowledged is there, once, and has stayed as it was told."""
        with psycopg.connect(url) as connection:
            jobs = {
                row[0]: row[1:]
                for row in connection.execute(
                    "select id, params ->> 'token', status, dequeue_count, result ->> 'by'"
                    " from plane.jobs"
                )
            }
            assert broken(connection) == []
        assert {status for _, status, *_ in jobs.values()} <= TERMINAL, "all came to an end"
        tokens = [token for token, *_ in jobs.values() if token is not None]
        assert len(tokens) == len(set(tokens)), "no enqueue made two jobs"
        assert not self.rolled_back & set(tokens), "no job of a transaction that rolled back"
        assert self.enqueued.keys() <= jobs.keys(), "no acknowledged enqueue is lost"
        for job_id, token in self.enqueued.items():
            assert token in (None, jobs[job_id][0]), "each has the job that it was told"
        for job_id, told in self.completed.items():
            assert len(told) == 1, "no job was done twice"
            ((attempt, by),) = told
            assert jobs[job_id][1:] == ("done", attempt, by), "a completion that was told stands"
        for job_id in self.cancelled:
            assert jobs[job_id][1] == "cancelled", "what was cancelled stays so"


def drain(connections: list[psycopg.Connection], queues: Sequence[str]) -> None:
    """After one sweep, claims alone get every job done: those of all these sessions in turn."""
    first = connections[0]
    for queue in queues:
        first.execute("select plane.resume_queue(%s)", (queue,))
    first.execute("select plane.sweep(100000)")
    for queue in queues:
        for connection in cycle(connections):
            held = connection.execute(
                "select job_id, attempt from plane.claim(%s, 'the last', 100)", (queue,)
            ).fetchall()
            if not held:
                break
            connection.execute(
                "select plane.complete_jobs(%s::bigint[], %s::int[])",
                ([row[0] for row in held], [row[1] for row in held]),
            )


def set_clock_ahead(url: str, by: str) -> None:
    """From now on the ledger's clock is so far ahead."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "create or replace function plane._now() returns timestamptz language sql volatile"
            f" return pg_catalog.clock_timestamp() + interval '{by}'"
        )
