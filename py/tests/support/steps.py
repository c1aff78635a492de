"""Steps of the ledger for tests with several sessions, on a queue named mail."""

from typing import Any

from .sessions import Session, Stage

CLAIM = "select job_id, attempt from plane.claim_one('mail', %s)"
ENQUEUE = "select job_id, coalesced from plane.enqueue('mail', 'send', p_dedupe_key => %s)"
COMPLETE = "select plane.complete_job(%s, %s, p_result => %s::json)"
RENEW = "select state from plane.renew_leases(%s, array[%s]::bigint[], array[1])"
STATUS = "select status from plane.jobs where id = %s"

A_LONG_TIME = 2 * 86_400
"""Seconds; every lease of the queue has run out by then."""


def make_queue(stage: Stage) -> None:
    """The queue; its leases outlive every clock that tests set, but for A_LONG_TIME."""
    stage.look("select plane.create_queue('mail', p_lease => '1 day', p_notify => 'never')")


def enqueue(session: Session, key: str | None = None) -> int:
    job_id: int = session.row(ENQUEUE, key)[0]
    return job_id


def claim(session: Session) -> tuple[Any, ...] | None:
    """The claim's (job id, attempt), or None."""
    rows = session.run(CLAIM, session.name)
    return rows[0] if rows else None


def complete(session: Session, job_id: int, attempt: int, result: str = '{"by": "us"}') -> bool:
    completed: bool = session.value(COMPLETE, job_id, attempt, result)
    return completed


def status(stage: Stage, job_id: int) -> str:
    found: str = stage.look(STATUS, job_id)[0][0]
    return found


def later(stage: Stage, seconds: int) -> None:
    """Let the ledger's clock run ahead of the wall clock by so many seconds, for all sessions."""
    stage.look(
        "create or replace function plane._now() returns timestamptz language sql volatile "
        f"return pg_catalog.clock_timestamp() + interval '{seconds} seconds'"
    )


def stand_at(stage: Stage, seconds: int) -> None:
    """Let the ledger's clock stand so many seconds after the beginning.

    A session with a setting test.seconds has it stand there instead: a transaction that sees the
    past hears of nothing else.
    """
    stage.look(
        f"""
        create or replace function plane._now() returns timestamptz language sql volatile
        return timestamptz '2030-01-01 00:00Z' + interval '1 second' * coalesce(
            nullif(pg_catalog.current_setting('test.seconds', true), '')::integer, {seconds})
        """
    )
