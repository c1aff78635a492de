"""Calls while an old transaction keeps every dead row: pages, round by round.

A queue of one table walks all dead rows at each claim. Here a claim walks none, and where a call
does walk some, its budget says how many.
"""

import json
from collections.abc import Callable
from statistics import median

import psycopg
import pytest

from ..support.costs import Timed, quiet_ledger
from ..support.explain import Told
from ..support.postgres import Server

ROUNDS = 300
FIFTH = ROUNDS // 5
BATCH = 30
"""Jobs beside, so that there are enough dead rows to fill pages with."""

SECONDS = 0.04
"""A round takes so long, by the ledger's clock: some look at time, some move the floor."""

WRITES = "select pg_current_xact_id()"
READS = "select count(*) from plane.jobs"

Call = Callable[..., Told]


def plain(call: Call, round_: int) -> None:
    many(call, [{"operation": "send"}] * BATCH)
    call("enqueue", "enqueue('mail', 'send')")
    finish(call)


def prioritised(call: Call, round_: int) -> None:
    many(call, [{"operation": "send", "priority": n % 3 - 1} for n in range(BATCH)])
    call("enqueue", "enqueue('mail', 'send', p_priority => %s)", round_ % 3 - 1)
    finish(call)


def keyed(call: Call, round_: int) -> None:
    call("enqueue", "enqueue('mail', 'send', p_dedupe_key => %s)", f"key {round_}")
    finish(call)


def same_key(call: Call, round_: int) -> None:
    call("enqueue", "enqueue('mail', 'send', p_dedupe_key => 'key')")
    finish(call)


def same_line(call: Call, round_: int) -> None:
    call("enqueue", "enqueue('mail', 'send', p_serial_key => 'red')")
    finish(call)


def retried(call: Call, round_: int) -> None:
    call("enqueue", "enqueue('mail', 'send')")
    job = call("claim_one", "claim_one('mail', 'w')").rows[0][:2]
    call("fail_job", "fail_job(%s, %s, '{}', '0.02 s')", *job)


def renewed(call: Call, round_: int) -> None:
    call("enqueue", "enqueue('mail', 'send')")
    job = call("claim_one", "claim_one('mail', 'w')").rows[0][:2]
    call("renew_leases", "renew_leases('w', array[%s]::bigint[], array[%s]::int[])", *job)
    call("complete_job", "complete_job(%s, %s, '{}')", *job)


def slept(call: Call, round_: int) -> None:
    call("enqueue", "enqueue('mail', 'send')")
    finish(call)
    assert not call("claim of nothing", "claim_one('mail', 'w')").rows


def many(call: Call, jobs: list[dict[str, object]]) -> None:
    call("enqueue_many", "enqueue_many('mail', %s)", json.dumps(jobs))
    held = call("claim", "claim('mail', 'w', %s)", len(jobs)).rows
    ids, attempts = [row[0] for row in held], [row[1] for row in held]
    assert len(ids) == len(jobs)
    call("complete_jobs", "complete_jobs(%s::bigint[], %s::int[])", ids, attempts)


def finish(call: Call) -> None:
    job = call("claim_one", "claim_one('mail', 'w')").rows[0][:2]
    call("complete_job", "complete_job(%s, %s, '{}')", *job)


LEVELS = {"enqueue": 1, "claim_one": 4, "complete_job": 2}
"""Pages that a call may grow by, since indexes have one level more in the end: a claim asks one of
ready for two lanes, and writes two of lease."""

MANY = {**LEVELS, "enqueue_many": 3, "claim": 8, "complete_jobs": 2, "claim_one": 8}
"""The same; and what died since the floor last moved, a second ago, is some pages."""

GROWTH: list[tuple[Callable[[Call, int], None], str, dict[str, int]]] = [
    # a round, what pins the horizon, and pages that each call may grow by over all rounds
    (plain, WRITES, MANY),
    (plain, READS, MANY),
    # six lanes of them
    (prioritised, WRITES, {**MANY, "claim": 18, "claim_one": 18}),
    (keyed, WRITES, {**LEVELS, "enqueue": 6}),
    (retried, WRITES, {"enqueue": 2, "claim_one": 6, "fail_job": 4}),
    # the worker's row: a page in some hundred heartbeats or naps
    (renewed, WRITES, {"enqueue": 2, "claim_one": 5, "renew_leases": 2, "complete_job": 1}),
    (slept, WRITES, {"enqueue": 4, "claim_one": 6, "claim of nothing": 6, "complete_job": 1}),
    # the key's earlier lives, each of them
    (same_key, WRITES, {**LEVELS, "enqueue": ROUNDS, "complete_job": 6}),
    (same_line, WRITES, {**LEVELS, "enqueue": ROUNDS, "complete_job": 8}),
]


@pytest.mark.parametrize(
    ("work", "pin", "allowed"),
    GROWTH,
    ids=[f"{work.__name__}, {'written' if pin == WRITES else 'read'}" for work, pin, _ in GROWTH],
)
def test_dead_rows_that_must_stay_are_not_walked_again_and_again(
    quiet: Server, work: Callable[[Call, int], None], pin: str, allowed: dict[str, int]
) -> None:
    url = quiet_ledger(quiet)
    pages: dict[str, list[int]] = {}
    session = Timed(url, nested=False)

    def call(name: str, sql: str, *params: object) -> Told:
        told = session.call(sql, *params)
        pages.setdefault(name, []).append(told.pages)
        return told

    # plans and the catalog first
    for round_ in range(FIFTH):
        work(call, -round_)
    pages.clear()
    elsewhere = quiet_ledger(quiet)
    with psycopg.connect(url) as old, psycopg.connect(elsewhere) as writer:
        old.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        old.execute(pin)
        # a ledger of another database, where plane.ready has the same oid
        writer.execute("select plane.enqueue('mail', 'send')")
        for round_ in range(ROUNDS):
            work(call, round_ + 1)
            session.later(SECONDS)
    session.close()

    grown = {
        name: median(touched[-FIFTH:]) - median(touched[:FIFTH]) for name, touched in pages.items()
    }
    assert set(grown) == set(allowed)
    assert {n: pages_ for n, pages_ in grown.items() if pages_ > allowed[n]} == {}, grown
