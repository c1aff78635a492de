"""The oracle beside other sessions: what it finds of them, and that it finds nothing else.

What is broken is planted and found in `db/tests/functions/upkeep/health.sql`.
"""

import struct
from collections.abc import Callable

import psycopg
import pytest
from psycopg import pq

from ..support.postgres import ROOT
from ..support.sessions import Session, Stage
from ..support.steps import A_LONG_TIME, claim, enqueue, later, make_queue

FOUND = "select problem, job_ids, says from plane.health() order by problem"
JOIN = "select job_id from plane.enqueue('mail', 'send', p_serial_key => 'red')"

Found = list[tuple[str, list[int], str]]


class Scene:
    """The sessions of a fault: `one` is to be found, `others` are to be left in peace."""

    def __init__(self, stage: Stage, url: str, as_everyone: Callable[[], Session]) -> None:
        self.stage, self.url = stage, url
        self.one, self.other = as_everyone(), as_everyone()

    def grow_old(self, seconds: int = A_LONG_TIME) -> None:
        """Let jobs be made, and time go by, while the workers are there."""
        self.stage.look("select from plane.enqueue('mail', 'send')")
        later(self.stage, seconds)
        self.stage.look("select plane.renew_leases('w', '{}', '{}'), plane.pause_queue('mail')")

    def found(self) -> dict[str, Found]:
        """What the oracle finds, by problem."""
        found: dict[str, Found] = {}
        for row in self.stage.look(FOUND):
            found.setdefault(row[0], []).append(row)
        return found


@pytest.fixture
def scene(stage: Stage, queue_db: str) -> Scene:
    """A queue with one worker and two sessions that may do everything."""
    make_queue(stage)
    stage.look("select plane.register_worker('w', 'mail')")
    return Scene(stage, queue_db, lambda: stage.enter(queue_db)[0])


def says(found: dict[str, Found], problem: str) -> str:
    ((_, _, text),) = found[problem]
    return text


def test_an_open_enqueuer_holds_floors_and_horizon(scene: Scene) -> None:
    scene.one.begin()
    enqueue(scene.one)
    assert scene.found() == {}, "not yet"
    scene.grow_old(301)
    found = scene.found()
    assert sorted(found) == ["floors_held", "horizon_pinned"]
    assert all(f"process {scene.one.pid} of " in says(found, problem) for problem in found)


def test_a_writer_elsewhere_holds_the_horizon(scene: Scene) -> None:
    """Snapshots that others take meanwhile are as old as the writer; it is he who is named."""
    scene.one.run("create table unrelated ()")
    scene.one.begin()
    scene.one.run("insert into unrelated default values")
    scene.other.begin("repeatable read")
    scene.other.run("select from unrelated")
    scene.grow_old(301)
    found = scene.found()
    assert list(found) == ["horizon_pinned"]
    assert f"process {scene.one.pid} of " in says(found, "horizon_pinned")
    scene.one.commit()
    assert f"process {scene.other.pid} of " in says(scene.found(), "horizon_pinned")
    scene.other.commit()
    assert scene.found() == {}


def test_an_idle_transaction_that_pins_nothing_is_left_in_peace(scene: Scene) -> None:
    scene.one.begin()
    scene.one.run("select from plane.jobs")
    scene.grow_old(301)
    assert scene.found() == {}


def test_a_prepared_transaction_is_found(scene: Scene) -> None:
    scene.one.begin()
    enqueue(scene.one)
    scene.one.run("prepare transaction 'left behind'")
    scene.grow_old(301)
    found = scene.found()
    assert sorted(found) == ["floors_held", "horizon_pinned"]
    assert all("prepared transaction left behind" in says(found, problem) for problem in found)
    scene.stage.look("rollback prepared 'left behind'")
    assert scene.found() == {}


def test_a_slot_whose_standby_is_behind_is_found(scene: Scene) -> None:
    """The standby is a connection that says, as one does, which transaction it still looks at."""
    ((lsn,),) = scene.stage.look(
        "select lsn::text from pg_create_physical_replication_slot('standby', true)"
    )
    ((xid,),) = scene.stage.look("select pg_current_xact_id()::text::bigint % (2^32)::bigint")
    standby = pq.PGconn.connect(f"{scene.url}?replication=true".encode())
    try:
        standby.exec_(f"START_REPLICATION SLOT standby PHYSICAL {lsn}".encode())
        standby.put_copy_data(b"h" + struct.pack("!qIIII", 0, xid, 0, 0, 0))
        standby.flush()
        waits = "select xmin is null from pg_replication_slots where slot_name = 'standby'"
        while scene.stage.look(waits) == [(True,)]:
            pass
    finally:
        standby.finish()
    scene.grow_old(301)
    try:
        assert "replication slot standby" in says(scene.found(), "horizon_pinned")
    finally:
        scene.stage.look("select pg_drop_replication_slot('standby')")
    assert scene.found() == {}


def test_a_claim_that_never_commits_is_found(scene: Scene) -> None:
    job_id = enqueue(scene.other)
    scene.one.begin()
    assert claim(scene.one) == (job_id, 1)
    scene.grow_old(301)
    assert "row_locked" not in scene.found(), "its lease would not have lapsed"
    scene.grow_old()
    ((_, job_ids, text),) = scene.found()["row_locked"]
    assert job_ids == [job_id]
    assert f"process {scene.one.pid} of " in text


def test_a_batch_that_keeps_a_lapsed_job_is_found(scene: Scene) -> None:
    job_id = enqueue(scene.other)
    assert claim(scene.one) == (job_id, 1)
    scene.one.begin()
    scene.one.run("select plane.report_progress(%s, 1, 1, 2, null)", job_id)
    scene.grow_old()
    found = scene.found()
    assert sorted(found) == ["horizon_pinned", "lease_unswept", "row_locked"]
    ((_, job_ids, text),) = found["row_locked"]
    assert job_ids == [job_id]
    assert f"process {scene.one.pid} of " in text
    scene.stage.look("select plane.renew_leases('w', array[%s]::bigint[], '{1}')", job_id)
    assert sorted(scene.found()) == ["horizon_pinned"], "one that renews is at work"


def test_who_keeps_a_line_from_going_on_is_found(scene: Scene) -> None:
    head = scene.other.value(JOIN)
    scene.other.value(JOIN)
    assert claim(scene.other) == (head, 1)
    scene.one.begin()
    scene.one.value(JOIN)
    scene.other.run("select plane.complete_job(%s, 1)", head)
    scene.grow_old()
    ((_, job_ids, text),) = scene.found()["row_locked"]
    assert job_ids == [head]
    assert f"process {scene.one.pid} of " in text


def test_what_has_ended_costs_nothing(scene: Scene) -> None:
    """The same live jobs, looked through beside few and beside many that have ended."""

    def pages() -> int:
        ((plan,),) = scene.stage.look(
            "explain (analyze, buffers, format json) select * from plane.health(100)"
        )
        read: int = plan[0]["Plan"]["Shared Hit Blocks"] + plan[0]["Plan"]["Shared Read Blocks"]
        return read

    def finish(count: int) -> None:
        scene.stage.look(
            "with drawn as (select nextval('plane.job_id_seq') as id from generate_series(1, %s)),"
            " asked as (insert into plane.job (id, queue_id, priority, by_request, max_dequeues,"
            " created_at, operation, params, envelope)"
            " select id, 1, 0, false, 5, now(), 'send', '{}', '{}' from drawn returning id)"
            " insert into plane.outcome (job_id, attempt, max_dequeues, finished_at, status)"
            " select id, 1, 5, now(), 'done' from asked",
            count,
        )

    for serial_key in ("red", "red", "blue"):
        for dedupe_key in ("a", "b", None):
            scene.other.run(
                "select plane.enqueue('mail', 'send', p_dedupe_key => %s, p_serial_key => %s)",
                f"{dedupe_key}{serial_key}" if dedupe_key else None,
                serial_key,
            )
    finish(2_000)
    pages()
    few = pages()
    finish(20_000)
    pages()
    assert pages() < few * 1.2


def test_every_problem_of_transactions_is_found_here(stage: Stage) -> None:
    words = stage.look(
        "select distinct word[1] from pg_proc p"
        " cross join regexp_matches(p.prosrc, 'select ''([a-z_]+)'',', 'g') as word"
        " where p.oid = 'plane._threat_transactions'::regproc"
    )
    assert {word for (word,) in words} == {"floors_held", "horizon_pinned", "row_locked"}


def test_every_problem_and_reason_is_in_the_docs(stage: Stage) -> None:
    ((words,),) = stage.look(
        "select array(select distinct word[1] from pg_proc p"
        " cross join regexp_matches(p.prosrc, 'select ''([a-z]+(?:_[a-z]+)*)'',', 'g') as word"
        " where p.pronamespace = 'plane'::regnamespace and p.proname ~ '^_(broken|threat|why)_')"
    )
    page = (ROOT / "docs" / "operating.md").read_text()
    assert len(words) > 25
    assert [word for word in words if f"`{word}`" not in page] == []


def test_an_older_snapshot_is_refused(stage: Stage, as_admin: str) -> None:
    (admin,) = stage.enter(as_admin)
    admin.begin("repeatable read")
    with pytest.raises(psycopg.Error, match="health is asked under READ COMMITTED only"):
        admin.run(FOUND)


def test_a_range_of_ids_that_is_replaced_meanwhile_is_whole(scene: Scene) -> None:
    """Rows that were copied are not seen by a snapshot from before: it must not be of then."""
    job_id = enqueue(scene.other)
    table, bounds = scene.one.row(
        "select c.oid::regclass::text, pg_get_expr(c.relpartbound, c.oid)"
        " from pg_class c join plane.job j on j.tableoid = c.oid where j.id = %s",
        job_id,
    )
    scene.one.begin()
    scene.one.run("lock plane.job in access exclusive mode")
    scene.other.start(FOUND)
    scene.other.waits_for(scene.one)
    scene.one.run(f"create table plane.copy (like {table} including all)")
    scene.one.run(f"insert into plane.copy select * from {table}")
    scene.one.run(f"alter table plane.job detach partition {table}")
    scene.one.run(f"alter table plane.job attach partition plane.copy {bounds}")
    scene.one.commit()
    assert scene.other.result() == []
