"""Who maintains the ledger, and who uses it meanwhile: nobody waits, and nothing is half done."""

import psycopg
import pytest

from ..support.ranges import DAY, MAINTAIN, WIDTH, jobs_by_range, maintain, ranges, tables
from ..support.sessions import Session, Stage
from ..support.steps import claim, complete, enqueue, later

JUMP = "select setval('plane.job_id_seq', 9999999999)"
SEEN = "select id, status from plane.jobs order by id"


@pytest.fixture(autouse=True)
def mail(stage: Stage) -> None:
    stage.look("select plane.create_queue('mail', p_lease => '7 days', p_notify => 'never')")


@pytest.fixture
def keepers(stage: Stage, as_worker: str, as_admin: str) -> list[Session]:
    """Two sessions that maintain the ledger: a worker's and an admin's."""
    return stage.enter(as_worker, as_admin)


@pytest.fixture
def producer(producers: list[Session]) -> Session:
    return producers[0]


@pytest.fixture
def worker(workers: list[Session]) -> Session:
    return workers[0]


def test_a_jump_of_ids_passes_no_open_enqueue_over(
    stage: Stage, producers: list[Session], worker: Session
) -> None:
    first = enqueue(producers[0])
    assert claim(worker) == (first, 1)
    producers[0].begin()
    slow = enqueue(producers[0])
    later(stage, 2)
    assert claim(worker) is None

    stage.look(JUMP)
    for seconds in (4, 6):
        later(stage, seconds)
        quick = enqueue(producers[1])
        assert quick >= WIDTH
        assert claim(worker) == (quick, 1), "what is committed is claimed, with the floors it knows"
    producers[0].commit()
    later(stage, 8)
    assert claim(worker) == (slow, 1), "what was drawn before the jump is passed over by nobody"
    assert claim(worker) is None


def test_a_jump_of_ids_keeps_the_floors(stage: Stage, producer: Session, worker: Session) -> None:
    """The session's memory stays good: a floor that went back would walk over dead rows again."""
    for seconds in (2, 4):
        enqueue(producer)
        claim(worker)
        later(stage, seconds)
    claim(worker)
    (queue_id,) = stage.look("select id from plane.queue")[0]
    floors = "select split_part(split_part(current_setting(%s), '#', 2), '|', 1)"
    assert worker.value(floors, f"plane.floors_{queue_id}") == "{3,3}"
    stage.look(JUMP)
    later(stage, 6)
    assert claim(worker) is None
    later(stage, 8)
    assert claim(worker) is None
    assert worker.value(floors, f"plane.floors_{queue_id}") == f"{{{WIDTH},{WIDTH}}}"


def test_an_open_enqueue_keeps_ids_where_they_are(
    stage: Stage, producers: list[Session], worker: Session, keepers: list[Session]
) -> None:
    enqueue(producers[1])
    later(stage, DAY)
    producers[0].begin()
    slow = enqueue(producers[0])
    left = maintain(keepers[0])
    assert left is not None
    assert left.startswith(f"left process {producers[0].pid} of test_producer")
    assert left.endswith("uses the tables of jobs")
    assert enqueue(producers[1]) == slow + 1, "nobody had to wait, and nothing changed"

    producers[0].commit()
    assert maintain(keepers[0]) == f"opened ids from {WIDTH} on"
    assert enqueue(producers[1]) == WIDTH
    assert [claim(worker) for _ in range(4)] == [
        (job_id, 1) for job_id in (slow - 1, slow, slow + 1, WIDTH)
    ]


def test_an_open_reader_is_not_waited_for(
    stage: Stage, producer: Session, worker: Session, keepers: list[Session]
) -> None:
    keeper, reader = keepers
    enqueue(producer)
    later(stage, DAY)
    reader.begin()
    reader.run(SEEN)
    before = ranges(stage)
    left = maintain(keeper)
    assert left is not None
    assert left.startswith(f"left process {reader.pid} of test_admin")
    assert ranges(stage) == before
    reader.commit()
    assert maintain(keeper) == f"opened ids from {WIDTH} on"


def test_whoever_comes_between_is_waited_for_a_moment(
    stage: Stage, producer: Session, keepers: list[Session], queue_db: str
) -> None:
    """Who takes a lock after the others have been waited for, here that of a partition alone."""
    enqueue(producer)
    later(stage, DAY)
    (vacuum,) = stage.enter(queue_db)
    vacuum.begin()
    vacuum.run("lock table plane.attempt_1 in share update exclusive mode")
    assert maintain(keepers[0]) == "left a table was locked by somebody else for too long"
    assert not keepers[0].in_transaction
    assert len(ranges(stage)) == 2
    vacuum.commit()
    assert maintain(keepers[0]) == f"opened ids from {WIDTH} on"


def test_nobody_uses_a_partition_while_it_is_changed(stage: Stage, queue_db: str) -> None:
    (owner,) = stage.enter(queue_db)
    owner.begin()
    owner.run("select plane._lock_ranges()")
    assert stage.look(
        "select relation::regclass::text from pg_locks where pid = %s and granted"
        " and mode = 'AccessExclusiveLock' order by 1",
        owner.pid,
    ) == [("plane.attempt",), ("plane.job",), ("plane.outcome",)]
    assert owner.value("show lock_timeout") == "50ms"
    owner.rollback()


def test_two_keepers_do_not_wait_for_each_other(
    stage: Stage, producer: Session, keepers: list[Session]
) -> None:
    enqueue(producer)
    later(stage, DAY)
    keepers[0].begin()
    assert maintain(keepers[0]) == f"opened ids from {WIDTH} on"
    assert maintain(keepers[1]) == "left another session is at it"
    keepers[0].commit()
    assert maintain(keepers[1]) is None


@pytest.mark.parametrize("killed_at", ["opened", "copied", "removed"])
def test_a_killed_keeper_leaves_nothing_half_done(
    stage: Stage,
    producer: Session,
    worker: Session,
    as_worker: str,
    queue_db: str,
    killed_at: str,
) -> None:
    stays, done = enqueue(producer), enqueue(producer)
    assert claim(worker) == (stays, 1)
    assert claim(worker) == (done, 1)
    assert complete(worker, done, 1)
    later(stage, 2 * DAY)
    (keeper,) = stage.enter(as_worker)
    while True:
        before = (ranges(stage), tables(stage))
        (doomed,) = stage.enter(as_worker)
        doomed.begin()
        step = (maintain(doomed) or "").partition(" ")[0]
        if step == killed_at:
            break
        doomed.commit()
    assert stage.look("select pg_terminate_backend(%s, 20000)", doomed.pid) == [(True,)]

    assert (ranges(stage), tables(stage)) == before
    new = enqueue(producer)
    assert claim(worker) == (new, 1), "jobs are enqueued and claimed as ever"
    for _ in range(5):
        maintain(keeper)
    newer = enqueue(producer)
    assert claim(worker) == (newer, 1)
    assert sum(jobs_by_range(stage).values()) == 3
    assert [job_id for job_id, _ in stage.look(SEEN)] == [stays, new, newer]
    assert complete(worker, stays, 1)


def test_ids_that_got_into_the_open_ended_range_are_bounded(
    stage: Stage, producer: Session, worker: Session, keepers: list[Session]
) -> None:
    """As a server does that crashed between the jump of the sequence and the commit."""
    stage.look(JUMP)
    first = enqueue(producer)
    assert maintain(keepers[0]) == f"opened ids from {WIDTH + 1} on"
    assert ranges(stage) == [(0, WIDTH), (WIDTH, 2 * WIDTH), (2 * WIDTH, None)]
    second = enqueue(producer)
    assert (first, second) == (WIDTH, WIDTH + 1)
    assert [claim(worker) for _ in "12"] == [(first, 1), (second, 1)]
    assert maintain(keepers[0]) == f"removed ids 0 to {WIDTH - 1}", "where nothing ever was"


def test_a_worker_that_registers_waits_while_others_are_forgotten(
    stage: Stage, worker: Session, keepers: list[Session]
) -> None:
    register = "select plane.register_worker(%s, 'mail')"
    manifest = """select plane.register_manifest('mail', '[{"name": "send", "version": 1}]')"""
    operations = "select count(*) from plane.operation"
    stage.look(register, "old")
    stage.look(manifest)
    later(stage, 2 * DAY)
    keepers[0].begin()
    assert maintain(keepers[0]) == "forgot 1 workers, not seen for a day"
    worker.start(register, "new")
    worker.waits_for(keepers[0])
    keepers[0].commit()
    worker.result()
    worker.run(manifest)
    assert stage.look(operations) == [(1,)]
    assert maintain(keepers[0]) is None
    assert stage.look("select name from plane.worker") == [("new",)]


def test_a_queue_in_which_somebody_registers_is_passed_over(
    stage: Stage, worker: Session, keepers: list[Session]
) -> None:
    stage.look("select plane.register_worker('old', 'mail')")
    later(stage, 2 * DAY)
    worker.begin()
    worker.run("select plane.register_worker('new', 'mail')")
    assert maintain(keepers[0]) is None
    worker.commit()
    assert maintain(keepers[0]) == "forgot 1 workers, not seen for a day"


@pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
def test_an_older_snapshot_maintains_nothing(keepers: list[Session], isolation: str) -> None:
    keepers[0].begin(isolation)
    with pytest.raises(psycopg.Error, match="under READ COMMITTED only") as refused:
        keepers[0].run(MAINTAIN)
    assert refused.value.sqlstate == "PL409"
