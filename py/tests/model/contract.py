"""What the ledger promises of each transition: small enough to be read and agreed with."""

from dataclasses import dataclass, replace
from datetime import datetime

from .world import HELD, Job, Owner, Queue, Stall, Token, View


@dataclass(frozen=True)
class Ask:
    """What an enqueue asks for; `after` in seconds; from `scope` on it is a request's."""

    queue: str
    key: str | None = None
    serial: str | None = None
    priority: int = 0
    after: int | None = None
    budget: int | None = None
    scope: str | None = None
    word: str | None = None
    fresh: bool = False
    caller: str | None = None

    @property
    def line(self) -> Token:
        return ("line", self.queue, self.serial)


# Asking ------------------------------------------------------------------------------------------


def live_job(view: View, queue: str, key: str | None) -> Job | None:
    """The live job that has this key. One that was asked to stop has it no more."""
    job_id = view.owner(queue, key) if key is not None else None
    job = view.job(job_id) if job_id is not None else None
    return job if job and job.is_live and job.status != "cancelling" else None


def joins(view: View, job: Job, ask: Ask) -> bool:
    """Whether a call gets this live job: a fresh one only what runs fresh, or still can."""
    if not ask.fresh:
        return True
    return job.fresh if job.status in HELD else not view.is_held(job.token)


def is_full(view: View, queue: Queue, more: int = 1) -> bool:
    pending = [job for job in view.jobs(queue.name) if job.status in ("pending", "waiting")]
    return queue.depth > 0 and len(pending) + more > queue.depth


def create(view: View, ask: Ask, queue: Queue, job_id: int, about: float) -> Job:
    """A new job: it has its key from the start, and its place in a line once it is due.

    Outside of lines it is as old as its id, which was drawn about then.
    """
    open_priority(view, ask.queue, ask.priority)
    age = view.world.draw(job_id, about)
    budget = ask.budget or queue.max_dequeues
    job = Job(
        job_id, ask.queue, ask.key, ask.serial, ask.scope, given=budget, asked=ask.priority,
        priority=ask.priority, budget=budget, fresh=ask.fresh, caller=ask.caller,
        created=view.now,
    )  # fmt: skip
    if ask.key is not None:
        view.put(Owner(ask.queue, ask.key, job_id))
    if ask.after is not None and ask.after > 0:
        at = view.later(ask.after)
        job = replace(job, asked_for=at, due=at)
        view.put(job)
        return job
    job = place(view, job)
    if job.serial is None:
        job = replace(job, age=age)
        view.put(job)
    return job


def join(view: View, job: Job, ask: Ask) -> None:
    """A call joins a live job: that is due no later and no less urgent than it asks.

    A pause after a failure stays, and so does one of a redrive, or for a line that was not to be
    had. A job that somebody has in hand is passed over.
    """
    if ask.priority < job.priority:
        open_priority(view, job.queue, ask.priority)
    if job.status not in ("pending", "waiting") or view.is_held(job.token):
        return
    if ask.fresh:
        job = replace(job, fresh=True)
        view.put(job)
    if job.backs_off:
        return
    at = view.later(ask.after or 0)
    priority = min(job.priority, ask.priority)
    if job.due is not None and job.asked_for is not None and at < min(job.due, job.asked_for):
        job = replace(job, due=at, priority=priority)
        view.put(job)
        if at <= view.now:
            place(view, job)
    elif priority < job.priority:
        job = replace(job, priority=priority)
        view.put(aged(view, job) if job.is_ready else job)


def open_priority(view: View, name: str, priority: int) -> Queue:
    queue = view.queue(name)
    if priority not in queue.priorities:
        queue = replace(queue, priorities=queue.priorities | {priority})
        view.put(queue)
    return queue


# Places ------------------------------------------------------------------------------------------


def aged(view: View, job: Job) -> Job:
    return replace(job, due=None, backs_off=False, age=view.tick())


def place(view: View, job: Job) -> Job:
    """A due job becomes ready, or joins its serial line."""
    job = replace(job, due=None)
    if job.serial is None or job.joined is not None:
        job = aged(view, replace(job, status="pending"))
    else:
        taken = any(
            other.is_live and other.joined is not None and other.line == job.line
            for other in view.jobs(job.queue)
        )
        view.hold(job.line)
        job = replace(job, status="waiting", joined=view.tick())
        if not taken and not view.is_stalled(job.line):
            job = aged(view, replace(job, status="pending"))
    view.put(job)
    return job


def ready(view: View, queue: str) -> list[Job]:
    """What may be claimed, in the order of claims: the urgent first, then what came back."""
    jobs = [job for job in view.jobs(queue) if job.is_ready]
    return sorted(jobs, key=lambda job: (job.priority, job.attempt == 0, job.age))


# Attempts ----------------------------------------------------------------------------------------


def holds(view: View, job_id: int, attempt: int) -> Job | None:
    """The job, if this attempt holds it: the fence."""
    job = view.job(job_id)
    return job if job and job.status in HELD and job.attempt == attempt else None


def claim(view: View, job: Job, worker: str) -> Job:
    job = replace(
        job, status="in_progress", attempt=job.attempt + 1, worker=worker, age=0,
        lease_until=view.later(view.queue(job.queue).lease),
    )  # fmt: skip
    view.put(job)
    return job


def give_up(view: View, job: Job, budget: int, pause: float = 0) -> str:
    """An attempt ended without an answer."""
    if job.status == "cancelling":
        return end(view, job, "cancelled")
    job = replace(job, worker=None, lease_until=None, budget=budget)
    if job.attempt >= budget:
        return end(view, job, "poison")
    if pause > 0:
        view.put(replace(job, status="pending", due=view.later(pause), backs_off=True))
    else:
        view.put(aged(view, replace(job, status="pending")))
    return "pending"


def end(view: View, job: Job, status: str, result: str | None = None) -> str:
    """A job ended: its dedupe key is free, and its line goes on."""
    was_head = job.is_head
    if job.key is not None:
        view.hold(("freed", job.queue, job.key))
    job = replace(job, status=status, worker=None, lease_until=None, result=result)
    view.put(replace(job, due=None, backs_off=False, joined=None))
    if was_head:
        hand_on(view, job)
    return status


def cancel(view: View, job: Job) -> str:
    """A job is to stop; its status then."""
    if job.status in ("pending", "waiting"):
        return end(view, job, "cancelled")
    if job.status == "in_progress":
        if job.key is not None:
            view.hold(("freed", job.queue, job.key))
        job = replace(job, status="cancelling")
        view.put(job)
    return job.status


def hand_on(view: View, head: Job) -> None:
    """The next of a line becomes ready: at once, unless somebody has the line or that job."""
    following = first_waiting(view, head)
    if view.is_held(head.line) or (following and view.is_held(following.token)):
        view.put(Stall(head.line, True))
        return
    view.hold(head.line)
    if following:
        view.put(aged(view, replace(following, status="pending")))


def first_waiting(view: View, like: Job) -> Job | None:
    line = [job for job in view.jobs(like.queue) if job.line == like.line]
    if like.serial is None or any(job.is_head for job in line):
        return None
    waiting = [job for job in line if job.status == "waiting"]
    return min(waiting, key=lambda job: job.joined or 0, default=None)


# Time --------------------------------------------------------------------------------------------


def is_overdue(view: View, job: Job) -> bool:
    """Whether time, or the end of a head, has moved this job and nobody has noticed yet."""
    if job.status in HELD:
        return job.lease_until is not None and job.lease_until <= view.now
    if job.due is not None:
        return job.due <= view.now
    return job.status == "waiting" and first_waiting(view, job) == job


def by_time(job: Job) -> tuple[int, datetime | int, int]:
    """The order in which what is overdue is moved: leases, schedules, lines; the oldest first."""
    if job.status in HELD:
        assert job.lease_until is not None
        return (0, job.lease_until, job.id)
    return (2, job.joined or 0, job.id) if job.due is None else (1, job.due, job.id)


def move_on(view: View, job: Job) -> None:
    """What time does to an overdue job."""
    if job.status in HELD:
        give_up(view, job, job.budget)
    elif job.due is not None:
        place(view, job)
    else:
        view.put(aged(view, replace(job, status="pending")))
        view.hold(job.line)
        view.put(Stall(job.line, False))
