"""The readers' calls."""

from datetime import datetime

from ..support.sessions import Row
from .call import Call, job_tokens
from .contract import ready
from .sight import Sight
from .world import HELD, Job, Token, View, Waiter

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
        name: str, deadline: datetime,
    ) -> None:  # fmt: skip
        self.queue, self.job_id, self.scope = queue, job_id, scope
        self.name, self.deadline = name, deadline
        self.params = (queue, job_id, scope_key, name, deadline)

    def waits_on(self, view: View) -> set[Token]:
        return {("waiter", self.job_id, self.name)}

    def answered(self, view: View, rows: list[Row], seen: Sight) -> None:
        job = visible(view, self.queue, self.job_id, self.scope)
        assert rows == [(job is not None,)]
        if job is not None:
            known = view.waiter(job.id, self.name)
            deadline = max(known.deadline, self.deadline) if known else self.deadline
            view.put(Waiter(job.id, self.name, deadline))
