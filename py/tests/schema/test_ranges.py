"""Ranges of jobs come and go on a database that is migrated, verified and reverted."""

from pgplane.schema import migrations

from ..support.ranges import DAY, maintain, tables
from ..support.sessions import staged
from ..support.sqltree import schema
from ..support.steps import claim, complete, enqueue, later, make_queue


def test_ranges_are_as_they_should_be_whichever_there_are(bare_db: str) -> None:
    empty = schema(bare_db)
    migrations.migrate(bare_db)
    with staged(bare_db) as stage:
        make_queue(stage)
        (session,) = stage.enter(bare_db)
        poison, done = enqueue(session), enqueue(session)
        stage.look("update plane.ready set max_dequeues = 1")
        assert claim(session) == (poison, 1)
        session.run("select plane.fail_job(%s, 1, '{}')", poison)
        assert claim(session) == (done, 1)
        assert complete(session, done, 1)
        later(stage, 2 * DAY)
        steps = [(maintain(session) or "").partition(" ")[0] for _ in "12"]
        assert steps == ["opened", "copied"]
        assert tables(stage) == [
            f"{table}_{number}" for table in ("attempt", "job", "outcome") for number in range(4)
        ]
    migrations.migrate(bare_db)
    (changed,) = migrations.verify(bare_db)
    assert changed == "function plane._now() is not as its file says", "the test's clock, alone"
    migrations.revert(bare_db, "0")
    assert schema(bare_db) == empty
