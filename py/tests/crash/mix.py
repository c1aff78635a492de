"""The calls of a soak, each drawn at random."""

import json
import random
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from .ground import Connection, Ground

QUEUES = ("mail", "post", "quiet")
ENVELOPE = {"client": "acme", "staff": False, "scope": ["north"]}
ACTORS = ("ann", "bob")
SCOPE_KEY = """plane.scope_key('acme', '["north"]', false)"""
OWN_KEY = """plane.scope_key('acme', '["north"]', false, %s)"""
ENQUEUE = """
    select job_id, coalesced from plane.enqueue(%s, 'ask', jsonb_build_object('token', %s::text),
        p_dedupe_key => %s, p_serial_key => %s, p_priority => %s, p_available_at => %s,
        p_max_dequeues => %s)
"""

Fence = tuple[int, int]


class Mix:
    """One session's calls; `told` is what its open transaction has been told so far."""

    def __init__(
        self, ground: Ground, connection: Connection, name: str, chance: random.Random
    ) -> None:
        self.ground, self.connection, self.name, self.random = ground, connection, name, chance
        self.told: list[dict[str, Any]] = []
        self.held: list[Fence] = []
        self.tokens = (f"{name}-{number}" for number in count(1))
        self.calls = [
            *[self.enqueue] * 4, self.enqueue_many, *[self.submit] * 2, *[self.claim] * 6,
            *[self.complete] * 4, self.complete_many, self.fail, self.release, self.renew,
            self.progress, self.finish_cancel, self.cancel, self.retry, self.retry_poison,
            self.sweep, self.administer, self.wait, self.leave, self.get,
        ]  # fmt: skip

    def call(self) -> None:
        chosen = self.random.choice(self.calls)
        chosen()
        self.ground.count(chosen.__name__)

    def ended(self, committed: bool) -> None:
        """The transaction has ended: what it was told is true, or void."""
        if not committed:
            self.taken_back(0)
        self.ground.note(self.told)
        self.told = []

    def taken_back(self, kept: int) -> None:
        """What came after the first so many things told is void."""
        void = [told["token"] for told in self.told[kept:] if told.get("token")]
        self.told[kept:] = [{"rolled_back": token} for token in void]

    # Asking ------------------------------------------------------------------------------------

    def enqueue(self, queue: str | None = None) -> None:
        token = next(self.tokens)
        after = self._one_of(None, None, None, -1, 0.1, 0.5)
        at = None if after is None else datetime.now(UTC) + timedelta(seconds=after)
        ((job_id, coalesced),) = self._rows(
            ENQUEUE, queue or self._queue(), token, self._key(), self._line(),
            self._one_of(0, 0, 0, -1, 5), at, self._one_of(None, None, 1),
        )  # fmt: skip
        self._enqueued(job_id, None if coalesced else token)

    def enqueue_many(self) -> None:
        tokens = [next(self.tokens) for _ in range(self.random.randint(1, 20))]
        jobs = [
            {
                "operation": "ask",
                "params": {"token": token},
                "dedupe_key": self._key(),
                "serial_key": self._line(),
            }
            for token in tokens
        ]
        rows = self._rows(
            "select job_id, coalesced from plane.enqueue_many(%s, %s::jsonb)",
            self._queue(), json.dumps(jobs),
        )  # fmt: skip
        for token, (job_id, coalesced) in zip(tokens, rows, strict=True):
            self._enqueued(job_id, None if coalesced else token)

    def submit(self) -> None:
        token = next(self.tokens)
        word = self._one_of(token, "one", "two")
        ((job_id,),) = self._rows(
            "select job_id from plane.submit_request(%s, 'ask', %s::jsonb, %s::jsonb,"
            " p_fresh => %s)",
            self._queue(), json.dumps({"word": word}),
            json.dumps({**ENVELOPE, "actor": self._one_of(*ACTORS)}), self._one_of(True, False),
        )  # fmt: skip
        self._enqueued(job_id, None)

    # Working -----------------------------------------------------------------------------------

    def claim(self) -> None:
        rows = self._rows(
            "select job_id, attempt from plane.claim(%s, %s, %s)",
            self._queue(), self.name, self.random.randint(1, 6),
        )  # fmt: skip
        self.held += [(job_id, attempt) for job_id, attempt in rows]
        self.ground.handed.extend(self.held[-2:])

    def complete(self) -> None:
        for job_id, attempt in self._some_held(1):
            by = next(self.tokens)
            ((completed,),) = self._rows(
                "select plane.complete_job(%s, %s, %s::json)",
                job_id, attempt, json.dumps({"by": by}),
            )  # fmt: skip
            if completed:
                self.told.append({"completed": job_id, "attempt": attempt, "by": by})

    def complete_many(self) -> None:
        held = self._some_held(5)
        by = next(self.tokens)
        rows = self._rows(
            "select completed from plane.complete_jobs(%s::bigint[], %s::int[], %s::json[])",
            *_columns(held), [json.dumps({"by": by})] * len(held),
        )  # fmt: skip
        for (job_id, attempt), (completed,) in zip(held, rows, strict=True):
            if completed:
                self.told.append({"completed": job_id, "attempt": attempt, "by": by})

    def fail(self) -> None:
        for fence in self._some_held(1):
            pause = self._one_of(None, timedelta(0), timedelta(milliseconds=50))
            self._rows("select plane.fail_job(%s, %s, '{}', %s)", *fence, pause)

    def release(self) -> None:
        for fence in self._some_held(1):
            self._rows("select plane.release_job(%s, %s)", *fence)

    def finish_cancel(self) -> None:
        for fence in self._some_held(1, keep=True):
            self._rows("select plane.finish_cancel(%s, %s)", *fence)

    def renew(self) -> None:
        held = self._some_held(3, keep=True)
        self._rows(
            "select * from plane.renew_leases(%s, %s::bigint[], %s::int[])",
            self.name,
            *_columns(held),
        )

    def progress(self) -> None:
        for fence in self._some_held(1, keep=True):
            self._rows("select plane.report_progress(%s, %s, 1, 2, 'so far')", *fence)

    # Ruling and reading ------------------------------------------------------------------------

    def cancel(self) -> None:
        job_id = self._job()
        ((status,),) = self._rows("select plane.request_cancel(%s, 'somebody')", job_id)
        if status == "cancelled":
            self.told.append({"cancelled": job_id})

    def retry(self) -> None:
        self._rows("select plane.retry_job(%s)", self._job())

    def retry_poison(self) -> None:
        spread = self._one_of(None, timedelta(milliseconds=300))
        self._rows(
            "select plane.retry_poison(%s, p_limit => 20, p_spread => %s)", self._queue(), spread
        )

    def sweep(self) -> None:
        self._rows("select plane.sweep(%s)", self._one_of(1, 10, 1000))

    def administer(self) -> None:
        self._rows(
            self._one_of(
                "select plane.pause_queue(%s)",
                "select plane.resume_queue(%s)",
                "select plane.resume_queue(%s)",
                "select plane.create_queue(%s, p_backoff => '100 ms', p_max_dequeues => 3)",
                "select plane.create_queue(%s, p_lease => '300 ms', p_max_dequeues => 5)",
            ),
            self._queue(),
        )

    def wait(self) -> None:
        queue, job_id = self._queue(), self._job()
        self._rows(
            f"select plane.register_waiter(%s, %s, {SCOPE_KEY}, %s, '1 s')",
            queue, job_id, self.name,
        )  # fmt: skip
        self._rows(f"select * from plane.await_job(%s, %s, {SCOPE_KEY})", queue, job_id)

    def leave(self) -> None:
        job_id = self._job()
        ((status,),) = self._rows(
            f"select plane.leave_job(%s, %s, {SCOPE_KEY}, {OWN_KEY})",
            self._queue(), job_id, self._one_of(*ACTORS),
        )  # fmt: skip
        if status == "cancelled":
            self.told.append({"cancelled": job_id})

    def get(self) -> None:
        """A job has one status, at any moment, to anybody."""
        job_id = self._job()
        sql = f"select status from plane.get_job(%s, %s, {SCOPE_KEY})"
        assert len([row for queue in QUEUES for row in self._rows(sql, queue, job_id)]) <= 1

    def _rows(self, sql: str, *params: Any) -> list[tuple[Any, ...]]:
        return self.connection.execute(sql, params).fetchall()

    def _enqueued(self, job_id: int, token: str | None) -> None:
        self.ground.jobs.append(job_id)
        self.told.append({"enqueued": job_id, "token": token})

    def _some_held(self, most: int, keep: bool = False) -> list[Fence]:
        """Attempts that it was handed, of which it may have lost some; or anybody's, long ago."""
        if self.random.random() < 0.2:
            return self.random.sample(list(self.ground.handed), min(most, len(self.ground.handed)))
        chosen = self.random.sample(self.held, min(most, len(self.held)))
        if not keep and self.random.random() < 0.8:
            self.held = [fence for fence in self.held if fence not in chosen]
        return chosen

    def _one_of(self, *choices: Any) -> Any:
        return self.random.choice(choices)

    def _queue(self) -> str:
        return self.random.choice(QUEUES)

    def _key(self) -> str | None:
        if self.random.random() < 0.5:
            return None
        # some are asked for all the time
        return f"key {int(50 * self.random.random() ** 3)}"

    def _line(self) -> str | None:
        return f"line {self.random.randrange(10)}" if self.random.random() < 0.3 else None

    def _job(self) -> int:
        return self.random.choice(self.ground.jobs or [0])


def _columns(fences: list[Fence]) -> tuple[list[int], list[int]]:
    return [job_id for job_id, _ in fences], [attempt for _, attempt in fences]
