"""Blobs are written, shared and reaped while heartbeats, cancels, rivals and readers go on."""

import psycopg
import pytest

from ..support.sessions import Session, Stage
from ..support.steps import A_LONG_TIME, RENEW, claim, complete, later

ASK = (
    "select job_id from plane.submit_request('mail', 'ask', jsonb_build_object('n', %s::int),"
    """ '{"client": "acme", "actor": "ann", "staff": false, "scope": ["north"]}')"""
)
PUT = "select plane.put_blob(%s, %s, 'text/plain', 'a.txt', %s)"
APPEND = "select plane.append_blob(%s, %s, 1, %s)"
READ = (
    "select plane.read_blob('mail', %s, 1, plane.scope_key('acme', '[\"north\"]', false),"
    " 0, 1048576)"
)
SHARE = "select plane.complete_job(%s, 1, '{}', p_blobs_of => %s)"
SHARE_MANY = "select completed from plane.complete_jobs(%s, array[1, 1], p_blobs_of => %s)"
REAP = "select plane.reap_blobs()"
CHUNKS = "select count(*)::int from plane.blob_chunk where job_id = %s"

RETENTION = 6 * 3600
"""Seconds for which a blob is kept; less than a lease."""


@pytest.fixture(autouse=True)
def mail(stage: Stage) -> None:
    stage.look(
        "select plane.create_queue('mail', p_lease => '1 day', p_notify => 'never',"
        " p_blob_retention => %s * interval '1 s')",
        RETENTION,
    )
    stage.look("""select plane.register_manifest('mail', '[{"name": "ask", "version": 1}]')""")


@pytest.fixture
def job_id(producers: list[Session], workers: list[Session]) -> int:
    """A job that the first worker holds."""
    return held(producers[0], workers[0], 0)


@pytest.fixture
def reader(stage: Stage, as_reader: str) -> Session:
    return stage.enter(as_reader)[0]


def held(producer: Session, worker: Session, n: int) -> int:
    job_id: int = producer.value(ASK, n)
    assert claim(worker) == (job_id, 1)
    return job_id


def finished(producer: Session, worker: Session, n: int, data: bytes = b"shared") -> int:
    """A done job with a blob."""
    job_id = held(producer, worker, n)
    worker.run(PUT, job_id, 1, data)
    assert complete(worker, job_id, 1)
    return job_id


def refused(session: Session, sqlstate: str, sql: str, *params: object) -> None:
    with pytest.raises(psycopg.Error) as error:
        session.run(sql, *params)
    assert error.value.sqlstate == sqlstate


def in_a_hurry(*sessions: Session) -> None:
    """From now on these sessions wait for no lock."""
    for session in sessions:
        session.run("set lock_timeout = '1ms'")


def test_a_writer_makes_neither_heartbeat_nor_cancel_wait(
    stage: Stage, as_admin: str, workers: list[Session], job_id: int
) -> None:
    writer, heartbeat = workers
    (admin,) = stage.enter(as_admin)
    in_a_hurry(heartbeat, admin)
    writer.begin()
    assert writer.value(PUT, job_id, 1, b"abc") == 1
    assert writer.value(APPEND, job_id, 1, b"def") == 6
    assert heartbeat.value(RENEW, writer.name, job_id) == "held"
    assert admin.value("select plane.request_cancel(%s, 'ann')", job_id) == "cancelling"
    assert heartbeat.value(RENEW, writer.name, job_id) == "cancelling"
    assert writer.value(APPEND, job_id, 1, b"ghi") == 9
    writer.commit()
    assert stage.look("select size from plane.blobs where job_id = %s", job_id) == [(9,)]


def test_a_lapsed_attempt_keeps_its_job_until_its_piece_is_written(
    stage: Stage, workers: list[Session], job_id: int
) -> None:
    writer, rival = workers
    in_a_hurry(rival)
    writer.begin()
    writer.run(PUT, job_id, 1, b"abc")
    later(stage, A_LONG_TIME)
    assert claim(rival) is None
    assert rival.value("select plane.sweep()") == 0
    writer.commit()

    later(stage, 2 * A_LONG_TIME)
    assert claim(rival) == (job_id, 2)


@pytest.mark.parametrize("write", [PUT, APPEND])
def test_a_writer_waits_for_a_take_over_and_is_refused_then(
    stage: Stage, workers: list[Session], job_id: int, write: str
) -> None:
    writer, rival = workers
    writer.run(PUT, job_id, 1, b"abc")
    later(stage, A_LONG_TIME)
    rival.begin()
    assert claim(rival) == (job_id, 2)
    writer.start(write, job_id, 1, b"def")
    writer.waits_for(rival)
    rival.commit()
    with pytest.raises(psycopg.Error, match="no longer holds"):
        writer.result()
    assert stage.look(CHUNKS, job_id) == [(1,)]


def test_a_completion_waits_for_a_piece_that_is_being_written(
    workers: list[Session], reader: Session, job_id: int
) -> None:
    writer, other = workers
    writer.run(PUT, job_id, 1, b"abc")
    writer.begin()
    writer.run(APPEND, job_id, 1, b"def")
    other.start("select plane.complete_job(%s, 1)", job_id)
    other.waits_for(writer)
    writer.commit()
    assert other.result() == [(True,)]
    assert reader.value(READ, job_id) == b"abcdef"


@pytest.mark.parametrize(("end", "number"), [("commit", 2), ("rollback", 1)])
def test_two_new_blobs_of_an_attempt_take_turns(
    workers: list[Session], job_id: int, end: str, number: int
) -> None:
    s1, s2 = workers
    s1.begin()
    assert s1.value(PUT, job_id, 1, b"one") == 1
    s2.start(PUT, job_id, 1, b"two")
    s2.waits_for(s1)
    s1.run(end)
    assert s2.result() == [(number,)]


def test_two_writers_of_a_blob_take_turns(
    workers: list[Session], reader: Session, job_id: int
) -> None:
    s1, s2 = workers
    s1.run(PUT, job_id, 1, b"a")
    s1.begin()
    assert s1.value(APPEND, job_id, 1, b"bc") == 3
    s2.start(APPEND, job_id, 1, b"def")
    s2.waits_for(s1)
    s1.commit()
    assert s2.result() == [(6,)]
    assert complete(s1, job_id, 1)
    assert reader.value(READ, job_id) == b"abcdef"


def test_a_writer_with_an_old_snapshot_is_told_to_try_again(
    workers: list[Session], job_id: int
) -> None:
    s1, s2 = workers
    s1.run(PUT, job_id, 1, b"a")
    s2.begin("repeatable read")
    s2.run("select")
    s1.run(APPEND, job_id, 1, b"b")
    refused(s2, "40001", APPEND, job_id, 1, b"c")


def test_a_writer_that_is_killed_leaves_nothing_that_is_read_and_nothing_that_stays(
    stage: Stage, workers: list[Session], reader: Session, job_id: int
) -> None:
    writer, rival = workers
    writer.run(PUT, job_id, 1, b"half")
    writer.begin()
    writer.run(APPEND, job_id, 1, b"lost")
    stage.look("select pg_terminate_backend(%s, 10000)", writer.pid)
    assert stage.look("select sum(octet_length(data)) from plane.blob_chunk") == [(4,)]

    later(stage, A_LONG_TIME)
    assert claim(rival) == (job_id, 2)
    assert rival.value(PUT, job_id, 2, b"whole") == 1
    assert complete(rival, job_id, 2)
    assert reader.value(READ, job_id) == b"whole"
    later(stage, A_LONG_TIME + 3600)
    rival.run(REAP)
    assert stage.look("select attempt, data from plane.blob_chunk") == [(2, b"whole")]


def test_a_read_sees_a_blob_whole_while_it_is_reaped(
    stage: Stage, producers: list[Session], workers: list[Session], reader: Session
) -> None:
    origin = finished(producers[0], workers[0], 1)
    reader.begin("repeatable read")
    reader.run("select")
    later(stage, RETENTION + 60)
    assert workers[1].value(REAP) > 0
    assert stage.look(CHUNKS, origin) == [(0,)]
    later(stage, 0)
    assert reader.value(READ, origin) == b"shared"
    reader.commit()
    refused(reader, "PL410", READ, origin)


def test_reapers_leave_each_other_their_blobs(
    stage: Stage, producers: list[Session], workers: list[Session]
) -> None:
    jobs = [finished(producers[0], workers[0], n) for n in range(3)]
    later(stage, RETENTION + 60)
    s1, s2 = workers
    in_a_hurry(s1, s2)
    s1.begin()
    assert s1.value("select plane.reap_blobs(1)") == 1
    s2.begin()
    assert s2.value(REAP) == 2
    assert s2.value(REAP) == 0
    s1.rollback()
    assert s1.value(REAP) == 1
    s2.commit()
    assert [stage.look(CHUNKS, job_id) for job_id in jobs] == [[(0,)]] * 3


def test_a_blob_that_is_being_written_is_left_alone_by_reapers(
    stage: Stage, workers: list[Session], job_id: int
) -> None:
    writer, reaper = workers
    in_a_hurry(reaper)
    writer.run(PUT, job_id, 1, b"a")
    later(stage, 2 * 3600)
    writer.begin()
    writer.run(APPEND, job_id, 1, b"b")
    assert reaper.value(REAP) == 0
    writer.commit()
    assert reaper.value(REAP) == 1
    assert stage.look(CHUNKS, job_id) == [(2,)]


def test_an_answer_that_would_use_a_blob_under_a_reaper_is_refused_once_it_is_gone(
    stage: Stage, producers: list[Session], workers: list[Session], reader: Session
) -> None:
    s1, reaper = workers
    origin = finished(producers[0], s1, 1)
    user = held(producers[0], s1, 2)
    later(stage, RETENTION + 60)
    reaper.begin()
    assert reaper.value(REAP) > 0
    later(stage, RETENTION - 60)  # whose clock lags a little still sees it alive
    s1.start(SHARE, user, origin)
    s1.waits_for(reaper)
    reaper.commit()
    with pytest.raises(psycopg.Error, match="the blobs have expired") as gone:
        s1.result()
    assert gone.value.sqlstate == "PL410"
    assert stage.look("select status from plane.jobs where id = %s", user) == [("in_progress",)]
    assert stage.look("select count(*)::int from plane.blob_share") == [(0,)]
    assert complete(s1, user, 1)


def test_an_answer_keeps_a_blob_that_a_reaper_gives_back(
    stage: Stage, producers: list[Session], workers: list[Session], reader: Session
) -> None:
    s1, reaper = workers
    origin = finished(producers[0], s1, 1)
    user = held(producers[0], s1, 2)
    later(stage, RETENTION + 60)
    reaper.begin()
    assert reaper.value(REAP) > 0
    later(stage, RETENTION - 60)
    s1.start(SHARE, user, origin)
    s1.waits_for(reaper)
    reaper.rollback()
    assert s1.result() == [(True,)]
    later(stage, RETENTION + 60)
    reaper.run(REAP)
    assert reader.value(READ, user) == b"shared"


@pytest.mark.parametrize(("end", "left"), [("commit", 1), ("rollback", 0)])
def test_a_reaper_leaves_a_blob_that_an_answer_is_about_to_use(
    stage: Stage, producers: list[Session], workers: list[Session], end: str, left: int
) -> None:
    s1, reaper = workers
    in_a_hurry(reaper)
    origin = finished(producers[0], s1, 1)
    user = held(producers[0], s1, 2)
    later(stage, RETENTION - 60)
    s1.begin()
    assert s1.value(SHARE, user, origin)
    later(stage, RETENTION + 60)
    assert reaper.value(REAP) == 0
    s1.run(end)
    reaper.run(REAP)
    assert stage.look(CHUNKS, origin) == [(left,)]


def test_answers_that_use_a_blob_within_a_minute_do_not_wait_for_each_other(
    stage: Stage, producers: list[Session], workers: list[Session]
) -> None:
    s1, s2 = workers
    origin = finished(producers[0], s1, 1)
    first, second, third = (held(producers[0], s1, n) for n in (2, 3, 4))
    s1.begin()
    assert s1.value(SHARE, first, origin)
    s2.start(SHARE, second, origin)
    s2.waits_for(s1)
    s1.commit()
    assert s2.result() == [(True,)]

    s1.begin()
    s1.run("select from plane.complete_job(%s, 1, p_blobs_of => %s)", third, origin)
    in_a_hurry(s2)
    fourth = held(producers[0], s2, 5)
    assert s2.value(SHARE, fourth, origin)
    s1.commit()


def test_batches_that_use_the_same_blobs_in_opposite_order_do_not_deadlock(
    producers: list[Session], workers: list[Session], stage: Stage, as_worker: str
) -> None:
    s1, s2 = workers
    (s0,) = stage.enter(as_worker)
    one, two = (finished(producers[0], s0, n) for n in (1, 2))
    users = [held(producers[0], s0, n) for n in range(3, 8)]
    s0.begin()
    assert s0.value(SHARE, users[0], one)
    s1.start(SHARE_MANY, users[1:3], [one, two])
    s1.waits_for(s0)
    s2.start(SHARE_MANY, users[3:5], [two, one])
    s2.waits_for(s1)
    s0.commit()
    assert s1.result() == [(True,)] * 2
    assert s2.result() == [(True,)] * 2
