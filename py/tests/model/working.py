"""The workers' calls."""

import json
from dataclasses import replace
from datetime import timedelta

from ..support.sessions import Row
from .asking import DedupeKeys
from .call import Call, job_tokens
from .contract import claim, end, give_up, holds, is_overdue, ready
from .sight import Sight, note_time
from .world import Job, Report, Token, View

Fence = tuple[int, int]


class Claim(Call):
    """plane.claim; plane.claim_one where no number is given."""

    waits = False

    def __init__(self, queue: str, worker: str, n: int | None, keys: DedupeKeys) -> None:
        self.queue, self.worker, self.n, self.keys = queue, worker, n or 1, keys
        function = "claim_one(%s, %s)" if n is None else "claim(%s, %s, %s)"
        self.sql = (
            "select job_id, attempt, queue, dedupe_key, serial_key, max_dequeues, lease_expires_at,"
            f" fresh, cache_key from plane.{function}"
        )
        self.params = (queue, worker) if n is None else (queue, worker, n)

    def answered(self, view: View, rows: list[Row], seen: Sight) -> None:
        note_time(view, seen, {row[0] for row in rows}, by_claim_of=self.queue)
        queue = view.queue(self.queue)
        free = [job for job in ready(view, self.queue) if not view.is_held(job.token)]
        if queue.paused:
            assert rows == [], "a paused queue hands out nothing"
            return
        assert [row[0] for row in rows] == [job.id for job in free[: self.n]]
        for job, row in zip(free, rows, strict=False):
            held = claim(view, job, self.worker)
            assert row == (
                job.id, job.attempt + 1, self.queue, row[3], job.serial, job.budget,
                held.lease_until, job.fresh, row[3] if job.scope else None,
            )  # fmt: skip
            assert row[3] == self.keys.get((self.queue, job.key or ""), job.key)
        if not rows:
            forgotten = [
                job
                for job in view.jobs(self.queue)
                if is_overdue(view, job) and not is_hindered(view, job)
                and job.id not in view.world.unseen
            ]  # fmt: skip
            assert forgotten == [], "time had brought something"


def is_hindered(view: View, job: Job) -> bool:
    """Whether somebody has in hand what moving this job would take."""
    return view.is_held(*job_tokens(job.id), job.line)


class Fenced(Call):
    """A call for attempts, which holds for those that held their jobs when it began."""

    def __init__(self, fences: list[Fence]) -> None:
        self.fences = fences
        self.held: list[Fence] | None = None

    def came_to_wait(self, view: View) -> None:
        super().came_to_wait(view)
        self.held = [fence for fence in self.fences if holds(view, *fence)]

    def holding(self, view: View, fence: Fence) -> Job | None:
        return holds(view, *fence) if self.held is None or fence in self.held else None


class Settling(Fenced):
    """A call that ends attempts: only their jobs are waited for."""

    def waits_on(self, view: View) -> set[Token]:
        return {token for job_id, _ in self.fences for token in job_tokens(job_id)}


class Complete(Settling):
    """plane.complete_job."""

    sql = "select plane.complete_job(%s, %s, p_result => %s::json)"

    def __init__(self, fence: Fence, by: str) -> None:
        super().__init__([fence])
        self.by = by
        self.params = (*fence, json.dumps({"by": by}))

    def answered(self, view: View, rows: list[Row], seen: Sight) -> None:
        job = holds(view, *self.fences[0])
        assert rows == [(job is not None,)]
        if job is not None:
            end(view, job, "done", self.by)


class CompleteMany(Settling):
    """plane.complete_jobs."""

    sql = "select job_id, completed from plane.complete_jobs(%s::bigint[], %s::int[], %s::json[])"

    def __init__(self, fences: list[Fence], by: str) -> None:
        super().__init__(fences)
        self.by = by
        ids, attempts = _columns(fences)
        self.params = (ids, attempts, [json.dumps({"by": by})] * len(fences))

    def answered(self, view: View, rows: list[Row], seen: Sight) -> None:
        ended: list[Job] = []
        for fence, row in zip(self.fences, rows, strict=True):
            job = self.holding(view, fence)
            first = job is not None and job not in ended
            assert row == (fence[0], first)
            if job is not None and first:
                ended.append(job)
        # leases go first, then the lines are handed on, by their keys
        for job in sorted(ended, key=lambda job: (queue_order(view, job.queue), job.serial or "")):
            end(view, job, "done", self.by)


def queue_order(view: View, queue: str) -> int:
    return [known.name for known in view.queues()].index(queue)


class Fail(Settling):
    """plane.fail_job; `retry_in` seconds, None for the queue's own pause."""

    sql = 'select plane.fail_job(%s, %s, \'{"code": "BROKEN"}\', p_retry_in => %s)'

    def __init__(self, fence: Fence, retry_in: int | None) -> None:
        super().__init__([fence])
        self.retry_in = retry_in
        self.params = (*fence, None if retry_in is None else timedelta(seconds=retry_in))

    def answered(self, view: View, rows: list[Row], seen: Sight) -> None:
        job = holds(view, *self.fences[0])
        if job is None:
            assert rows == [("lost",)]
            return
        pause: float | None = self.retry_in
        if pause is None:
            queue = view.queue(job.queue)
            spent = job.attempt - (job.budget - job.given)
            pause = queue.backoff * queue.factor ** (spent - 1)
            at = seen[job.id].available_at
            if queue.factor > 1 and rows == [("pending",)] and at is not None:
                actual = (at - view.now).total_seconds()
                assert 0.9 * pause <= actual <= 1.1 * pause, "ten in a hundred of jitter"
                pause = actual
        assert rows == [(give_up(view, job, job.budget, pause),)]


class Release(Settling):
    """plane.release_job: the try is not spent."""

    sql = "select plane.release_job(%s, %s)"

    def __init__(self, fence: Fence) -> None:
        super().__init__([fence])
        self.params = fence

    def answered(self, view: View, rows: list[Row], seen: Sight) -> None:
        job = holds(view, *self.fences[0])
        assert rows == [(job is not None,)]
        if job is not None:
            give_up(view, job, job.budget + 1)


class FinishCancel(Settling):
    """plane.finish_cancel: the worker's word that it stopped."""

    sql = "select plane.finish_cancel(%s, %s, %s::json)"

    def __init__(self, fence: Fence, by: str) -> None:
        super().__init__([fence])
        self.by = by
        self.params = (*fence, json.dumps({"by": by}))

    def answered(self, view: View, rows: list[Row], seen: Sight) -> None:
        job = holds(view, *self.fences[0])
        stopped = job is not None and job.status == "cancelling"
        assert rows == [(stopped,)]
        if job is not None and stopped:
            end(view, job, "cancelled", self.by)


class Renew(Fenced):
    """plane.renew_leases: waits for who ends an attempt, never for its own batch."""

    sql = "select job_id, state from plane.renew_leases(%s, %s::bigint[], %s::int[])"

    def __init__(self, worker: str, fences: list[Fence]) -> None:
        super().__init__(fences)
        self.params = (worker, *_columns(fences))

    def waits_on(self, view: View) -> set[Token]:
        return {("job", job_id) for job_id, _ in self.fences}

    def answered(self, view: View, rows: list[Row], seen: Sight) -> None:
        states = []
        for fence in self.fences:
            job = self.holding(view, fence)
            state = "lost" if job is None else "held" if job.status == "in_progress" else job.status
            states.append((fence[0], state))
        assert sorted(rows) == sorted(states)
        for fence in self.fences:
            job = self.holding(view, fence)
            if job is not None:
                until = view.later(self.queue_row(view, job.queue).lease)
                view.put(replace(job, lease_until=until))


class Progress(Call):
    """plane.report_progress: until the transaction ends, the attempt stays its own."""

    sql = "select plane.report_progress(%s, %s, %s, 9, null)"

    def __init__(self, fence: Fence, done: int) -> None:
        self.fence, self.done = fence, done
        self.params = (*fence, done)

    def waits_on(self, view: View) -> set[Token]:
        return {("job", self.fence[0])}

    def refusal(self, view: View) -> str | None:
        return None if holds(view, *self.fence) else "PL409"

    def answered(self, view: View, rows: list[Row], seen: Sight) -> None:
        job = holds(view, *self.fence)
        assert job is not None
        assert rows == [("held" if job.status == "in_progress" else "cancelling",)]
        view.put(Report(view.tick(), *self.fence, self.done))
        view.hold(("share", job.id))


def _columns(fences: list[Fence]) -> tuple[list[int], list[int]]:
    return [job_id for job_id, _ in fences], [attempt for _, attempt in fences]
