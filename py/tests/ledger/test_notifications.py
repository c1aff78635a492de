"""Who is told of what, by each `notify` setting of a queue.

Nothing waits for a while: a listener that has heard its own word has heard everything that was
committed before it, since notifications arrive in the order of commits.
"""

from collections.abc import Iterator

import psycopg
import pytest

from ..support.sessions import Session, Stage

ENVELOPE = '{"client": "acme", "actor": "ann", "staff": false, "scope": ["north"]}'
MANIFEST = '[{"name": "send", "version": 1}]'


class Listener:
    """A connection that listens to the ledger's channels."""

    def __init__(self, url: str) -> None:
        self._connection = psycopg.connect(url, autocommit=True)
        for channel in ("plane_ready", "plane_done"):
            self._connection.execute(f"listen {channel}")

    def heard(self) -> list[str]:
        """What was committed since the last call, as `channel payload`."""
        self._connection.execute("notify plane_done, 'now'")
        words: list[str] = []
        for word in self._connection.notifies(timeout=20):
            if word.payload == "now":
                return words
            words.append(f"{word.channel.removeprefix('plane_')} {word.payload}")
        raise AssertionError(f"the listener did not hear its own word, only {words}")

    def close(self) -> None:
        self._connection.close()


@pytest.fixture
def listener(queue_db: str) -> Iterator[Listener]:
    """Hears what every session commits."""
    listening = Listener(queue_db)
    yield listening
    listening.close()


@pytest.fixture
def everyone(stage: Stage, queue_db: str) -> Session:
    """A session with every right, which plays producer, worker and edge in turn."""
    (session,) = stage.enter(queue_db)
    return session


def queue(session: Session, notify: str) -> None:
    session.run(
        "select plane.create_queue('mail', p_lease => '1 day', p_max_dequeues => 2, "
        "p_backoff => '1 h', p_notify => %s)",
        notify,
    )
    session.run("select plane.register_manifest('mail', %s::jsonb)", MANIFEST)


def enqueue(session: Session, arguments: str = "") -> int:
    job_id: int = session.value(f"select job_id from plane.enqueue('mail', 'send'{arguments})")
    return job_id


def ask(session: Session) -> int:
    job_id: int = session.value(
        "select job_id from plane.submit_request('mail', 'send', '{}', %s::jsonb)", ENVELOPE
    )
    return job_id


def claim(session: Session) -> int | None:
    rows = session.run("select job_id from plane.claim_one('mail', 'w1')")
    return rows[0][0] if rows else None


def later(session: Session, hours: int) -> None:
    """Let the ledger's clock run ahead of the wall clock by so many hours."""
    session.run(
        "create or replace function plane._now() returns timestamptz language sql volatile "
        f"return pg_catalog.clock_timestamp() + interval '{hours} hours'"
    )


def test_a_job_that_can_be_claimed_wakes_the_workers(everyone: Session, listener: Listener) -> None:
    queue(everyone, "always")
    enqueue(everyone)
    assert listener.heard() == ["ready mail"]
    ask(everyone)
    assert listener.heard() == ["ready mail"]


def test_a_job_that_cannot_be_claimed_yet_wakes_nobody(
    everyone: Session, listener: Listener
) -> None:
    queue(everyone, "always")
    enqueue(everyone, ", p_available_at => now() + interval '1 h', p_dedupe_key => 'key'")
    enqueue(everyone, ", p_available_at => now() + interval '30 min', p_dedupe_key => 'key'")
    assert listener.heard() == []
    enqueue(everyone, ", p_serial_key => 'line'")
    assert listener.heard() == ["ready mail"], "the head of its line can be claimed"
    enqueue(everyone, ", p_serial_key => 'line'")
    assert listener.heard() == []


def test_whoever_joins_a_job_wakes_nobody_again(everyone: Session, listener: Listener) -> None:
    queue(everyone, "always")
    enqueue(everyone, ", p_dedupe_key => 'key'")
    listener.heard()
    enqueue(everyone, ", p_dedupe_key => 'key'")
    assert listener.heard() == []


def test_a_line_that_is_left_to_the_next_claim_wakes_the_workers(
    everyone: Session, listener: Listener, stage: Stage, queue_db: str
) -> None:
    queue(everyone, "always")
    (joiner,) = stage.enter(queue_db)
    head = enqueue(everyone, ", p_serial_key => 'line'")
    assert claim(everyone) == head
    joiner.begin()
    joined = enqueue(joiner, ", p_serial_key => 'line'")
    listener.heard()
    assert everyone.value("select plane.complete_job(%s, 1)", head)
    assert sorted(listener.heard()) == [f"done {head}", "ready mail"]
    joiner.commit()
    assert claim(everyone) == joined


def test_who_waits_for_a_job_that_is_claimed_and_done_in_one_transaction_is_told(
    everyone: Session, listener: Listener, stage: Stage, queue_db: str
) -> None:
    queue(everyone, "waiters")
    (edge,) = stage.enter(queue_db)
    job_id = ask(everyone)
    key = edge.value("select plane.scope_key('acme', '[\"north\"]', false)")
    everyone.begin()
    assert claim(everyone) == job_id
    assert everyone.value("select plane.complete_job(%s, 1)", job_id)
    wait = "select plane.register_waiter('mail', %s, %s, 'edge-1', '1 min')"
    assert edge.value(wait, job_id, key)
    answer = "select status from plane.await_job('mail', %s, %s)"
    assert edge.value(answer, job_id, key) == "pending"
    listener.heard()
    everyone.commit()
    assert listener.heard() == [f"done {job_id}"]


def test_what_is_rolled_back_wakes_nobody(everyone: Session, listener: Listener) -> None:
    queue(everyone, "always")
    everyone.begin()
    enqueue(everyone)
    everyone.rollback()
    assert listener.heard() == []


def test_many_jobs_of_one_transaction_wake_the_workers_once(
    everyone: Session, listener: Listener
) -> None:
    queue(everyone, "always")
    everyone.begin()
    for _ in range(3):
        enqueue(everyone)
    everyone.commit()
    assert listener.heard() == ["ready mail"]


def test_a_job_that_becomes_claimable_by_a_call_wakes_the_workers(
    everyone: Session, listener: Listener
) -> None:
    queue(everyone, "always")
    enqueue(everyone, ", p_available_at => now() + interval '1 h', p_dedupe_key => 'key'")
    enqueue(everyone, ", p_dedupe_key => 'key'")
    assert listener.heard() == ["ready mail"], "pulled forward"

    job_id = claim(everyone)
    everyone.run("select plane.release_job(%s, 1)", job_id)
    assert listener.heard() == ["ready mail"], "released"
    assert claim(everyone) == job_id
    everyone.run("select plane.fail_job(%s, 2, '{}', '1 h')", job_id)
    assert listener.heard() == [], "paused"

    later(everyone, 2)
    everyone.run("select plane.sweep()")
    assert listener.heard() == ["ready mail"], "swept after its pause"
    everyone.run("select plane.sweep()")
    assert listener.heard() == [], "swept for nothing"


def test_the_next_of_a_serial_line_wakes_the_workers(everyone: Session, listener: Listener) -> None:
    queue(everyone, "always")
    head = enqueue(everyone, ", p_serial_key => 'line'")
    enqueue(everyone, ", p_serial_key => 'line'")
    claim(everyone)
    listener.heard()
    everyone.run("select plane.complete_job(%s, 1)", head)
    assert sorted(listener.heard()) == [f"done {head}", "ready mail"]


def test_every_ending_is_told(everyone: Session, listener: Listener) -> None:
    queue(everyone, "always")
    answered, poisoned, lapsed, cancelled = (enqueue(everyone) for _ in range(4))
    for _ in range(4):
        claim(everyone)
    listener.heard()

    everyone.run("select plane.complete_job(%s, 1)", answered)
    assert listener.heard() == [f"done {answered}"]
    everyone.run("select plane.complete_job(%s, 1)", answered)
    assert listener.heard() == [], "a lost completion tells nobody"

    everyone.run("update plane.lease set cancelled_by = 'ann' where job_id = %s", cancelled)
    everyone.run("select plane.release_job(%s, 1)", cancelled)
    assert listener.heard() == [f"done {cancelled}"]

    everyone.run("select plane.fail_job(%s, 1, '{}', '0')", poisoned)
    assert claim(everyone) == poisoned
    listener.heard()
    everyone.run("select plane.fail_job(%s, 2, '{}')", poisoned)
    assert listener.heard() == [f"done {poisoned}"]

    everyone.run("update plane.lease set max_dequeues = 1 where job_id = %s", lapsed)
    later(everyone, 48)
    everyone.run("select plane.sweep()")
    assert f"done {lapsed}" in listener.heard()


def test_waiters_wakes_workers_only_while_one_sleeps(everyone: Session, listener: Listener) -> None:
    queue(everyone, "waiters")
    enqueue(everyone)
    assert listener.heard() == [], "no worker is known"
    everyone.run("select plane.register_worker('w1', 'mail')")
    enqueue(everyone)
    assert listener.heard() == [], "the worker is awake"

    assert claim(everyone)
    assert claim(everyone)
    enqueue(everyone)
    assert listener.heard() == [], "it is busy"
    assert claim(everyone)
    assert claim(everyone) is None
    enqueue(everyone)
    assert listener.heard() == ["ready mail"], "it came away with empty hands"
    assert claim(everyone)
    enqueue(everyone)
    assert listener.heard() == [], "it is awake again"


def test_waiters_tells_of_an_ending_only_where_somebody_waits(
    everyone: Session, listener: Listener
) -> None:
    queue(everyone, "waiters")
    unwatched, watched = enqueue(everyone), ask(everyone)
    key = everyone.value("select plane.scope_key('acme', '[\"north\"]', false)")
    wait = "select plane.register_waiter('mail', %s, %s, 'edge-1', '1 min')"
    assert everyone.value(wait, watched, key)
    claim(everyone)
    claim(everyone)

    everyone.run("select plane.complete_job(%s, 1)", unwatched)
    assert listener.heard() == []
    everyone.run("select plane.complete_job(%s, 1)", watched)
    assert listener.heard() == [f"done {watched}"]


@pytest.mark.parametrize(
    "complete",
    ["complete_job(%s, 1)", "complete_jobs(array[%s]::bigint[], array[1])"],
    ids=["one", "many"],
)
def test_who_has_asked_or_left_and_does_not_wait_is_not_told(
    everyone: Session, listener: Listener, complete: str
) -> None:
    queue(everyone, "waiters")
    job_id = ask(everyone)
    assert ask(everyone) == job_id
    everyone.run(
        "select plane.enqueue('mail', 'send', p_dedupe_key => j.dedupe_key) from plane.jobs j"
    )
    own = everyone.value("select plane.scope_key('acme', '[\"north\"]', false, 'ann')")
    key = everyone.value("select plane.scope_key('acme', '[\"north\"]', false)")
    assert everyone.value("select plane.leave_job('mail', %s, %s, %s)", job_id, key, own)
    assert everyone.run("select state from plane.waiter order by state") == [("left",), ("wants",)]
    assert claim(everyone) == job_id
    listener.heard()
    assert everyone.run(f"select plane.{complete}", job_id)
    assert listener.heard() == []


def test_never_tells_nobody_of_anything(everyone: Session, listener: Listener) -> None:
    queue(everyone, "never")
    everyone.run("select plane.register_worker('w1', 'mail')")
    assert claim(everyone) is None
    job_id = ask(everyone)
    key = everyone.value("select plane.scope_key('acme', '[\"north\"]', false)")
    wait = "select plane.register_waiter('mail', %s, %s, 'edge-1', '1 min')"
    assert everyone.value(wait, job_id, key)
    claim(everyone)
    everyone.run("select plane.release_job(%s, 1)", job_id)
    claim(everyone)
    everyone.run("select plane.complete_job(%s, 2)", job_id)
    everyone.run("select plane.sweep()")
    assert listener.heard() == []
