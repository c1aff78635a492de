"""The readers' calls."""

from datetime import datetime, timedelta

from ..support.sessions import Row
from .call import Call, job_tokens
from .contract import cancel, is_overdue, ready
from .interest import is_wanted, joining, judging, leaving, note_interest, note_left
from .sight import Sight
from .world import HELD, Job, Token, View

ANSWER = "job_id, status, (progress ->> 'done')::int, result ->> 'by', position"


class Get(Call):
    """plane.get_job by a caller of some scope, or of none."""

    function = "get_job"
    waits = False

    def __init__(self, queue: str, job_id: int, scope: str | None, scope_key: str | None) -> None:
        self.queue, self.job_id, self.scope = queue, job_id, scope
        self.sql = f"select {ANSWER} from plane.{self.function}(%s, %s, %s)"
        self.params = (queue, job_id, scope_key)

    def answered(self, view: View, rows: list[Row], seen: Sight) -> None:
        job = visible(view, self.queue, self.job_id, self.scope)
        if job is None:
            assert rows == [], "another scope's or surface's job is no row"
            return
        line = [other.id for other in ready(view, job.queue)]
        position = line.index(job.id) + 1 if job.is_ready else None
        assert rows == [(job.id, job.status, view.progress(job), job.result, position)]


def visible(view: View, queue: str, job_id: int, scope: str | None) -> Job | None:
    """The job, if a caller of this scope on this surface may see it; no scope sees nothing."""
    job = view.job(job_id)
    if job is None or scope is None or (job.queue, job.scope) != (queue, scope):
        return None
    return job


class Await(Get):
    """plane.await_job: waits for an ending under way, so that none slips past."""

    function = "await_job"
    waits = True

    def waits_on(self, view: View) -> set[Token]:
        return job_tokens(self.job_id) - {("share", self.job_id)}

    def answered(self, view: View, rows: list[Row], seen: Sight) -> None:
        super().answered(view, rows, seen)
        job = visible(view, self.queue, self.job_id, self.scope)
        if job is not None and job.status in HELD:
            view.hold(("share", job.id))


class Register(Call):
    """plane.register_waiter."""

    sql = "select plane.register_waiter(%s, %s, %s, %s, %s)"

    def __init__(
        self, queue: str, job_id: int, scope: str | None, scope_key: str | None,
        name: str, now: datetime, wait: timedelta,
    ) -> None:  # fmt: skip
        self.queue, self.job_id, self.scope = queue, job_id, scope
        self.name, self.until = name, now + wait
        self.params = (queue, job_id, scope_key, name, wait)

    def waits_on(self, view: View) -> set[Token]:
        return {("waiter", self.job_id, self.name)}

    def answered(self, view: View, rows: list[Row], seen: Sight) -> None:
        job = visible(view, self.queue, self.job_id, self.scope)
        assert rows == [(job is not None,)]
        if job is not None:
            note_interest(view, job, self.name, self.until, "waits")


class Leave(Call):
    """plane.leave_job: waits for others that leave, and as a cancel does; never for who joins."""

    sql = "select plane.leave_job(%s, %s, %s, %s)"

    def __init__(
        self, queue: str, job_id: int, scope: str | None, scope_key: str | None, name: str
    ) -> None:
        self.queue, self.job_id, self.scope, self.name = queue, job_id, scope, name
        self.params = (queue, job_id, scope_key, name)

    def waits_on(self, view: View) -> set[Token]:
        return {leaving(self.job_id), ("waiter", self.job_id, self.name), ("job", self.job_id)}

    def answered(self, view: View, rows: list[Row], seen: Sight) -> None:
        job = visible(view, self.queue, self.job_id, self.scope)
        if job is None:
            assert rows == [(None,)]
            return
        note_left(view, job, self.name)
        if job.status not in ("pending", "waiting", "in_progress") or view.is_held(joining(job.id)):
            assert rows == [(job.status,)]
            return
        view.hold(judging(job.id))
        ends = not is_wanted(view, job)
        if self.began is not None:
            # it may have looked who wants it before it waited for the job itself
            ends = rows != [(job.status,)]
        assert rows == [(cancel(view, job) if ends else job.status,)]


class Why(Call):
    """plane.why: the first reason, and who stands in the way where it is a transaction."""

    sql = "select reason, (evidence ->> 'pid')::int from plane.why(%s)"
    waits = False

    def __init__(self, job_id: int, pids: dict[int, int]) -> None:
        self.job_id, self.pids = job_id, pids
        self.params = (job_id,)

    def refusal(self, view: View) -> str | None:
        return None if view.job(self.job_id) else "PL404"

    def answered(self, view: View, rows: list[Row], seen: Sight) -> None:
        job = view.job(self.job_id)
        assert job is not None
        ((reason, pid),) = rows
        assert reason in self._reasons(view, job), f"of {job}"
        if reason == "locked":
            assert view.is_held_by(self.pids[pid], *job_tokens(job.id), job.line)

    def _reasons(self, view: View, job: Job) -> set[str]:
        if not job.is_live:
            return {"finished"}
        if job.status in HELD and not is_overdue(view, job):
            return {"running" if job.status == "in_progress" else "cancelling"}
        if view.queue(job.queue).paused:
            return {"paused"}
        if job.due is not None and not is_overdue(view, job):
            return {"due"}
        if job.status == "waiting" and not is_overdue(view, job):
            return {"in_line"}
        if view.is_held(job.token) and not view.is_nameless(job.token):
            return {"locked"}
        ahead = [other.id for other in ready(view, job.queue)]
        is_next = not job.is_ready or ahead[0] == job.id
        # a reader, or who joins its line, may have it locked as well
        maybe = {"locked"} if view.is_held(*job_tokens(job.id), job.line) else set()
        return {"no_worker", "next" if is_next else "behind"} | maybe
