"""Who wants a request: who asked first, who joined it or waits for it, who has left."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from .world import Job, Token, View, Waiter

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FOR_EVER = datetime.max.replace(tzinfo=UTC)
INTEREST = timedelta(seconds=120)
"""How long who asks for something is taken to want it."""


def joining(job_id: int) -> Token:
    """A request that somebody is joining, or begins to wait for: leaving does not cancel it."""
    return ("joining", job_id)


def leaving(job_id: int) -> Token:
    """A request that somebody is leaving: the next who does waits."""
    return ("leaving", job_id)


def judging(job_id: int) -> Token:
    """A request that somebody is leaving, and nobody was joining: who joins it now waits."""
    return ("judging", job_id)


def is_wanted(view: View, job: Job) -> bool:
    """Whether somebody waits for a request or wants it: also who asked first, for a while."""
    noted = [waiter for waiter in view.waiters() if waiter.job_id == job.id]
    if any(one.state in ("waits", "wants") and one.deadline > view.now for one in noted):
        return True
    has_left = any(one.state == "left" and one.name == job.caller for one in noted)
    return job.created is not None and job.created + INTEREST > view.now and not has_left


def note_interest(view: View, job: Job, name: str, until: datetime, state: str) -> None:
    """Somebody waits for a job or wants it, until then at least: ten seconds are one step."""
    past = (until - EPOCH) % timedelta(seconds=10)
    until += timedelta(seconds=10) - past if past else timedelta(0)
    known = view.waiter(job.id, name)
    if known and known.deadline >= until and known.state in ("waits", state):
        return
    if not view.is_held(judging(job.id)):
        view.hold(joining(job.id))
    if known:
        until = max(until, known.deadline)
        state = "waits" if known.state == "waits" else state
    view.put(Waiter(job.id, name, until, state))


def keep(view: View, job: Job) -> None:
    """A request is wanted for good: by an application that joined it, or by who retried it."""
    if job.scope is None:
        return
    view.hold(joining(job.id))
    kept = [one for one in view.waiters() if one.job_id == job.id and one.deadline == FOR_EVER]
    if not kept:
        view.put(Waiter(job.id, f"kept {view.tick()}", FOR_EVER, "wants"))


def note_left(view: View, job: Job, name: str) -> None:
    """A caller wants a job no more."""
    view.hold(leaving(job.id))
    until = (job.created or view.now) + INTEREST
    if name == job.caller and until > view.now:
        view.put(Waiter(job.id, name, until, "left"))
    elif known := view.waiter(job.id, name):
        view.put(replace(known, state="gone"))
