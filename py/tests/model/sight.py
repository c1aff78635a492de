"""What a session sees of the ledger, compared with what it should see."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from ..support.sessions import Row
from .contract import by_time, is_overdue, move_on
from .world import HELD, Job, View

LOOK = """
    select id, queue, status, priority, dequeue_count, max_dequeues, available_at, locked_by,
        lease_expires_at, (progress ->> 'done')::int, serial_key, result ->> 'by'
    from plane.jobs
"""


@dataclass(frozen=True)
class Seen:
    """One row of plane.jobs."""

    id: int
    queue: str
    status: str
    priority: int
    attempt: int
    budget: int
    available_at: datetime | None
    worker: str | None
    lease_until: datetime | None
    progress: int | None
    serial: str | None
    result: str | None


Sight = dict[int, Seen]


def sight(rows: list[Row]) -> Sight:
    return {row[0]: Seen(*row) for row in rows}


def expected(view: View, job: Job, seen: Seen) -> Seen:
    """The row that should be seen; when a job that is ready became so, is no promise."""
    is_held = job.status in HELD
    ended_by_nobody = job.status in ("pending", "waiting") or job.attempt == 0
    priority = job.priority if job.is_live else job.asked
    return Seen(
        job.id, job.queue, job.status, priority, job.attempt, job.budget,
        seen.available_at if job.is_ready else job.due,
        job.worker if is_held else None if ended_by_nobody else seen.worker,
        job.lease_until if is_held else None,
        view.progress(job), job.serial, job.result,
    )  # fmt: skip


def compare(view: View, seen: Sight) -> None:
    """Fails where a session sees anything but what it should."""
    jobs = {job.id: job for job in view.jobs()}
    assert seen.keys() == jobs.keys()
    for job_id, row in seen.items():
        assert row == expected(view, jobs[job_id], row), f"{row} should be of {jobs[job_id]}"


def note_time(view: View, seen: Sight, taken: set[int], by_claim_of: str | None = None) -> None:
    """Move on in the model what the call was seen to have moved on: time's work is anybody's.

    `taken` was claimed by the call itself, from the queue `by_claim_of`.
    """
    queues = [by_claim_of] if by_claim_of else [queue.name for queue in view.queues()]
    for queue in queues:
        for job in sorted(_moved(view, queue, seen, taken), key=by_time):
            move_on(view, job)
        # one more round: lines whose head has only now ended
        for job in sorted(_moved(view, queue, seen, taken), key=by_time):
            move_on(view, job)
        for job in view.jobs(queue):
            if job.due is not None and is_overdue(view, job):
                note_put_off(view, job, seen)


def note_put_off(view: View, job: Job, seen: Sight) -> None:
    """A due job whose line another session has for itself is due again a second later."""
    at = view.now + timedelta(seconds=1)
    if seen[job.id].available_at == at and view.is_held(job.line):
        now = view.job(job.id) or job
        view.put(replace(now, status="pending", due=at, joined=None, age=0))


def note_stalled(view: View, seen: Sight) -> None:
    """A line that was left over may have been handed on unseen, when it was empty."""
    for job in view.jobs():
        is_left = job.status == "waiting" and view.is_stalled(job.line) and is_overdue(view, job)
        if is_left and seen[job.id].status == "pending":
            move_on(view, job)


def _moved(view: View, queue: str, seen: Sight, taken: set[int]) -> list[Job]:
    return [
        job
        for job in view.jobs(queue)
        if is_overdue(view, job) and (job.id in taken or _has_moved(job, seen[job.id]))
    ]


def _has_moved(job: Job, row: Seen) -> bool:
    if job.due is not None and row.status == "pending":
        return row.available_at is None
    return row.status != job.status or row.attempt != job.attempt
