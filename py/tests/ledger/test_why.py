"""Why a job is not running, where the reason is another session's open transaction."""

import psycopg
import pytest

from ..support.sessions import Session, Stage
from ..support.steps import A_LONG_TIME, claim, complete, enqueue, later, make_queue

WHY = "select reason, says, evidence from plane.why(%s)"


@pytest.fixture(autouse=True)
def mail(stage: Stage) -> None:
    """The queue of these tests, with a worker that never stops being there."""
    make_queue(stage)
    stage.look("select plane.register_worker('w', 'mail')")


@pytest.fixture
def admin(stage: Stage, as_admin: str) -> Session:
    """Who asks; a look that would wait fails."""
    (session,) = stage.enter(as_admin)
    session.run("set lock_timeout = '1s'")
    return session


def reason(admin: Session, job_id: int) -> str:
    said: str = admin.row(WHY, job_id)[0]
    return said


def locked_by(admin: Session, job_id: int, holder: Session, login: str) -> None:
    """Assert that the job's reason is that session, named as far as everybody may know it."""
    said = admin.row(WHY, job_id)
    assert said[0] == "locked"
    assert said[2] == {"pid": holder.pid, "user": login, "application": holder.name}
    assert f"process {holder.pid} of {login}@" in said[1]


def test_a_claim_that_has_not_committed_is_named(
    admin: Session, producers: list[Session], workers: list[Session]
) -> None:
    job_id = enqueue(producers[0])
    workers[0].begin()
    assert claim(workers[0]) == (job_id, 1)
    locked_by(admin, job_id, workers[0], "test_worker")
    workers[0].rollback()
    assert reason(admin, job_id) == "next"


def test_a_claim_in_a_savepoint_is_named(
    admin: Session, producers: list[Session], workers: list[Session]
) -> None:
    job_id = enqueue(producers[0])
    workers[0].begin()
    workers[0].run("savepoint here")
    assert claim(workers[0]) == (job_id, 1)
    locked_by(admin, job_id, workers[0], "test_worker")
    workers[0].commit()
    assert reason(admin, job_id) == "running"


def test_a_batch_that_outlives_its_lease_is_named(
    admin: Session, stage: Stage, producers: list[Session], workers: list[Session]
) -> None:
    """Two batches of one attempt: the row's lock is that of several."""
    job_id = enqueue(producers[0])
    assert claim(workers[0]) == (job_id, 1)
    for batch in workers:
        batch.begin()
        batch.run("select plane.report_progress(%s, 1, 1, 2, null)", job_id)
    assert reason(admin, job_id) == "running"
    later(stage, A_LONG_TIME)
    stage.look("select plane.renew_leases('w', '{}', '{}')")
    workers[1].commit()
    locked_by(admin, job_id, workers[0], "test_worker")
    workers[0].rollback()
    assert reason(admin, job_id) == "next"


def test_who_keeps_a_line_from_going_on_is_named(
    admin: Session, producers: list[Session], workers: list[Session]
) -> None:
    join = "select job_id from plane.enqueue('mail', 'send', p_serial_key => 'red')"
    head, behind = producers[0].value(join), producers[0].value(join)
    assert claim(workers[0]) == (head, 1)
    producers[1].begin()
    producers[1].value(join)
    assert complete(workers[0], head, 1)
    locked_by(admin, behind, producers[1], "test_producer")
    producers[1].commit()
    assert reason(admin, behind) == "next"


def test_a_prepared_transaction_is_named(
    admin: Session, stage: Stage, producers: list[Session], workers: list[Session]
) -> None:
    job_id = enqueue(producers[0])
    workers[0].begin()
    assert claim(workers[0]) == (job_id, 1)
    workers[0].run("prepare transaction 'claimed and left'")
    said = admin.row(WHY, job_id)
    assert said[0] == "locked"
    assert said[1].endswith("prepared transaction claimed and left")
    assert (said[2]["prepared"], said[2]["user"]) == ("claimed and left", "test_worker")
    workers[0].run("rollback prepared 'claimed and left'")
    assert reason(admin, job_id) == "next"


def test_who_may_see_sessions_is_told_their_state(
    admin: Session, stage: Stage, producers: list[Session], workers: list[Session]
) -> None:
    job_id = enqueue(producers[0])
    workers[0].begin()
    assert claim(workers[0]) == (job_id, 1)
    stage.look("grant pg_read_all_stats to plane_owner")
    try:
        said = admin.row(WHY, job_id)
    finally:
        stage.look("revoke pg_read_all_stats from plane_owner")
    assert said[2]["state"] == "idle in transaction"
    assert "idle in transaction since " in said[1]
    assert "since" in said[2]


def test_nobody_is_waited_for(
    admin: Session, stage: Stage, queue_db: str, producers: list[Session]
) -> None:
    job_id = enqueue(producers[0])
    (owner,) = stage.enter(queue_db)
    owner.begin()
    owner.run(
        "lock plane.queue, plane.ready, plane.due, plane.waiting, plane.lease in exclusive mode"
    )
    owner.run("select from plane.ready for update")
    locked_by(admin, job_id, owner, "postgres")


def test_a_job_whose_enqueuer_is_open_is_no_job_and_that_is_said(
    admin: Session, producers: list[Session]
) -> None:
    producers[0].begin()
    job_id = enqueue(producers[0])
    with pytest.raises(psycopg.Error) as refused:
        admin.run(WHY, job_id)
    assert refused.value.sqlstate == "PL404"
    assert refused.value.diag.message_detail == (
        f"job_id={job_id} newest_id={job_id} open_enqueuers=1"
    )
    producers[0].commit()
    assert reason(admin, job_id) == "next"
