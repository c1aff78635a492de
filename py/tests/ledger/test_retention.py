"""How long finished jobs are kept, over several ranges and queues, and that they leave."""

import json
import random
from dataclasses import dataclass, field

import pytest

from ..support.ranges import jobs_by_range, maintain, ranges, until_quiet
from ..support.sessions import Session, Stage
from ..support.steps import later

HOUR = 3600
MOVING = "select job_id, attempt from plane.claim(%s, 'w', 1000)"
SIZE = "select sum(pg_table_size(c.oid)) from pg_class c where c.relname ~ %s"
PARTITIONS = r"^(job|outcome|attempt)_\d+$"


@dataclass(frozen=True)
class Queue:
    """A queue's settings, in hours; poison_retention None is for ever."""

    name: str
    retention: int
    poison_retention: int | None = None


QUEUES = [Queue("short", 1), Queue("long", 72, 2), Queue("none", 0, 24), Queue("dropped", 9999)]


def create(stage: Stage, queue: Queue) -> None:
    stage.look(
        "select plane.create_queue(%s, p_lease => '7 days', p_notify => 'never', p_retention =>"
        " make_interval(hours => %s), p_poison_retention => make_interval(hours => %s))",
        queue.name,
        queue.retention,
        queue.poison_retention,
    )


@dataclass
class Job:
    """What the ledger was told of a job; `ended` is in hours, None while it lives."""

    queue: Queue
    created: int
    status: str = "pending"
    ended: int | None = None
    attempts: int = 0
    is_gone: bool = False

    def kept_until(self) -> float:
        if self.ended is None:
            return float("inf")
        keeps = self.queue.poison_retention if self.status == "poison" else self.queue.retention
        return float("inf") if keeps is None else self.ended + keeps


@dataclass
class Model:
    """Does things to the ledger, hour by hour, and knows what must be seen of them."""

    stage: Stage
    session: Session
    dice: random.Random
    hour: int = 0
    jobs: dict[int, Job] = field(default_factory=dict)

    def pass_time(self, hours: int) -> None:
        self.hour += hours
        later(self.stage, self.hour * HOUR)

    def enqueue(self) -> None:
        for _ in range(self.dice.randrange(12)):
            queue = self.dice.choice(QUEUES)
            scheduled = self.dice.random() < 0.05
            job_id = self.session.value(
                "select job_id from plane.enqueue(%s, 'send', p_available_at =>"
                " case when %s then plane._now() + interval '300 days' end, p_dedupe_key => %s)",
                queue.name,
                scheduled,
                self.dice.choice([None, str(self.dice.random())]),
            )
            self.jobs[job_id] = Job(queue, self.hour)

    def work(self) -> None:
        for queue in QUEUES:
            for job_id, attempt in self.session.run(MOVING, queue.name):
                self.settle(job_id, attempt)

    def settle(self, job_id: int, attempt: int) -> None:
        job = self.jobs[job_id]
        match self.dice.choice(["done"] * 6 + ["poison", "cancelled", "again", "held"]):
            case "done":
                assert self.session.value("select plane.complete_job(%s, %s)", job_id, attempt)
                job.status, job.ended = "done", self.hour
            case "poison":
                self.stage.look(
                    "update plane.lease set max_dequeues = attempt where job_id = %s", job_id
                )
                fail = "select plane.fail_job(%s, %s, '{}')"
                assert self.session.value(fail, job_id, attempt) == "poison"
                job.status, job.ended, job.attempts = "poison", self.hour, job.attempts + 1
            case "cancelled":
                self.session.run("select plane.request_cancel(%s, 'ann')", job_id)
                self.session.run(
                    "select plane.report_progress(%s, %s, 1, 2, null)", job_id, attempt
                )
                assert self.session.value("select plane.finish_cancel(%s, %s)", job_id, attempt)
                job.status, job.ended, job.attempts = "cancelled", self.hour, job.attempts + 1
            case "again":
                assert self.session.value("select plane.release_job(%s, %s)", job_id, attempt)
                job.attempts += 1
            case "held":
                job.status = "in_progress"

    def redrive(self) -> None:
        poison = [
            job_id
            for job_id, job in self.jobs.items()
            if job.status == "poison" and job.kept_until() > self.hour
        ]
        if poison and self.dice.random() < 0.3:
            job_id = self.dice.choice(poison)
            assert self.session.value("select plane.retry_job(%s)", job_id) == job_id
            self.jobs[job_id].status, self.jobs[job_id].ended = "pending", None

    def drop(self) -> None:
        """All that the queue has is over at once."""
        gone = [job_id for job_id, job in self.jobs.items() if job.queue.name == "dropped"]
        for job_id in gone:
            self.session.run("select plane.request_cancel(%s, 'ann')", job_id)
            self.stage.look(
                "update plane.lease set expires_at = '2000-01-01' where job_id = %s", job_id
            )
        self.session.run("select plane.sweep()")
        self.session.run("select plane.drop_queue('dropped')")
        for job_id in gone:
            del self.jobs[job_id]
        create(self.stage, next(queue for queue in QUEUES if queue.name == "dropped"))

    def check(self) -> None:
        """What must be there is there, as it was told; what is over may be."""
        seen: dict[int, str] = dict(self.stage.look("select id, status from plane.jobs"))
        assert seen.keys() <= self.jobs.keys()
        for job_id, job in self.jobs.items():
            if job_id in seen or job.kept_until() > self.hour:
                assert not job.is_gone, "what has left does not come back"
                assert seen.get(job_id) == job.status, (job_id, job, self.hour)
            else:
                job.is_gone = True
        attempts: dict[int, int] = dict(
            self.stage.look("select job_id, count(*)::int from plane.attempt group by 1")
        )
        assert attempts == {
            job_id: self.jobs[job_id].attempts for job_id in seen if self.jobs[job_id].attempts
        }
        assert self.stage.look(
            "select count(*) from plane.progress p"
            " where not exists (select from plane.job j where j.id = p.job_id)"
        ) == [(0,)]
        assert self.stage.look(
            "select count(*) from plane.live_key k"
            " where not exists (select from plane.job j where j.id = k.job_id)"
        ) == [(0,)]

    def check_worn(self) -> None:
        """No range that ids have left is half over, unless much of the rest is over soon."""
        seen = [job_id for (job_id,) in self.stage.look("select id from plane.jobs")]
        (drawn,) = self.stage.look("select last_value from plane.job_id_seq")[0]
        for lower, upper in self.stage.look("select lower, upper from plane._ranges()"):
            if upper is None or upper > drawn + 1:
                continue
            jobs = [self.jobs[job_id] for job_id in seen if lower <= job_id < upper]
            over = sum(job.kept_until() <= self.hour for job in jobs)
            soon = sum(
                self.hour < job.kept_until() <= self.hour + (self.hour - job.created) / 4
                for job in jobs
            )
            assert over < len(jobs) - over or over < 10 * soon, (lower, over, soon, len(jobs))


@pytest.fixture
def everyone(stage: Stage, queue_db: str) -> Session:
    (session,) = stage.enter(queue_db)
    return session


@pytest.mark.parametrize("seed", range(4))
def test_each_job_is_seen_for_as_long_as_it_is_to_be(
    stage: Stage, everyone: Session, seed: int
) -> None:
    for queue in QUEUES:
        create(stage, queue)
    model = Model(stage, everyone, random.Random(seed))
    did: set[str] = set()
    for _ in range(40):
        model.pass_time(model.dice.choice([0, 1, 1, 2, 4]))
        model.enqueue()
        model.work()
        model.redrive()
        if model.dice.random() < 0.1:
            model.drop()
        if model.dice.random() < 0.5:
            did |= set(until_quiet(everyone))
            model.check_worn()
        else:
            did |= {(maintain(everyone) or "").partition(" ")[0]}
        model.check()
    assert did >= {"opened", "copied", "removed"}

    model.pass_time(1000)
    model.enqueue()
    model.pass_time(1000)
    until_quiet(everyone)
    model.check()
    model.check_worn()
    assert any(job.is_gone for job in model.jobs.values())
    assert len(ranges(stage)) < 10, "what stays of many ranges is in few"


def test_rows_and_pages_of_finished_jobs_leave(stage: Stage, everyone: Session) -> None:
    stage.look("select plane.create_queue('mail', p_notify => 'never', p_max_dequeues => 1)")
    batch = [{"operation": "send", "params": {"text": "x" * 300}}] * 2000
    everyone.run("select plane.enqueue_many('mail', %s::jsonb)", json.dumps(batch))
    everyone.run(
        "select plane.complete_jobs(array_agg(c.job_id), array_agg(c.attempt))"
        " from plane.claim('mail', 'w', 1990) c"
    )
    everyone.run("select plane.fail_job(job_id, attempt, '{}') from plane.claim('mail', 'w', 4)")
    later(stage, 12 * HOUR)
    assert until_quiet(everyone) == ["opened"]
    assert jobs_by_range(stage) == {"plane.job_0": 2000}
    full = stage.look(SIZE, PARTITIONS)[0][0]

    later(stage, 25 * HOUR)
    assert until_quiet(everyone) == ["copied", "removed"]
    assert jobs_by_range(stage) == {"plane.job_3": 10}
    assert stage.look("select status, count(*)::int from plane.jobs group by 1 order by 1") == [
        ("pending", 6),
        ("poison", 4),
    ]
    assert stage.look(SIZE, PARTITIONS)[0][0] < full / 10

    stage.look("select plane.create_queue('mail', p_poison_retention => '1 day')")
    everyone.run(
        "select plane.complete_jobs(array_agg(c.job_id), array_agg(c.attempt))"
        " from plane.claim('mail', 'w', 6) c"
    )
    later(stage, 50 * HOUR)
    assert until_quiet(everyone) == ["removed"]
    assert jobs_by_range(stage) == {}
    assert stage.look("select count(*) from plane.outcome") == [(0,)]


def test_that_an_application_wants_a_request_is_forgotten_with_it(
    stage: Stage, everyone: Session
) -> None:
    stage.look("select plane.create_queue('mail', p_notify => 'never')")
    stage.look("""select plane.register_manifest('mail', '[{"name": "ask", "version": 1}]')""")
    envelope = '{"client": "acme", "actor": "ann", "staff": false, "scope": ["north"]}'
    ask = "select job_id from plane.submit_request('mail', 'ask', %s::jsonb, %s::jsonb)"
    ended, stays = (everyone.value(ask, json.dumps({"n": n}), envelope) for n in range(2))
    everyone.run("select plane.enqueue('mail', 'ask', p_dedupe_key => dedupe_key) from plane.jobs")
    noted = "select job_id from plane.waiter order by job_id"
    assert stage.look(noted) == [(ended,), (stays,)]
    assert everyone.run(MOVING, "mail") == [(ended, 1), (stays, 1)]
    assert everyone.value("select plane.complete_job(%s, 1)", ended)
    later(stage, 48 * HOUR)
    everyone.run("select plane.sweep()")
    assert until_quiet(everyone) == ["opened", "copied", "removed"]
    assert stage.look(noted) == [(stays,)]

    assert everyone.run(MOVING, "mail") == [(stays, 2)]
    assert everyone.value("select plane.complete_job(%s, 2)", stays)
    later(stage, 96 * HOUR)
    assert "removed" in until_quiet(everyone)
    assert stage.look(noted) == []


def test_neighbours_of_which_little_stays_become_one(stage: Stage, everyone: Session) -> None:
    stage.look("select plane.create_queue('mail', p_notify => 'never', p_max_dequeues => 1)")
    for day in range(5):
        for operation in ("fails", "works", "works"):
            everyone.run("select plane.enqueue('mail', %s)", operation)
        for job_id, attempt, operation in everyone.run(
            "select job_id, attempt, operation from plane.claim('mail', 'w', 3)"
        ):
            end = "fail_job(%s, %s, '{}')" if operation == "fails" else "complete_job(%s, %s)"
            everyone.run(f"select plane.{end}", job_id, attempt)
        later(stage, (2 * day + 2) * 24 * HOUR)
        until_quiet(everyone)
    assert [count for _, count in sorted(jobs_by_range(stage).items())] == [5]
    assert len(ranges(stage)) == 3, "what stayed, the one that ids are drawn in, and the open-ended"


def test_a_range_with_one_live_job_does_not_keep_the_finished_ones(
    stage: Stage, everyone: Session
) -> None:
    stage.look("select plane.create_queue('mail', p_notify => 'never')")
    held = (
        "select plane.enqueue('mail', 'send', p_available_at => plane._now() + interval '1 year')"
    )
    everyone.run(held)
    for _ in range(50):
        everyone.run("select plane.enqueue('mail', 'send')")
    everyone.run(
        "select plane.complete_jobs(array_agg(c.job_id), array_agg(c.attempt))"
        " from plane.claim('mail', 'w', 50) c"
    )
    later(stage, 48 * HOUR)
    assert until_quiet(everyone) == ["opened", "copied", "removed"]
    assert list(jobs_by_range(stage).values()) == [1]
    later(stage, 366 * 24 * HOUR)
    assert len(everyone.run(MOVING, "mail")) == 1
