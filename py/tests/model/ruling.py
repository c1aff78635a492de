"""The administrators' calls, and the sweep."""

from dataclasses import replace
from datetime import timedelta

from ..support.sessions import Row
from .call import Call, freed_tokens, key_tokens
from .contract import aged, cancel, is_overdue, live_job, place
from .interest import joining, judging, keep
from .sight import Sight, note_stalled, note_time
from .working import is_hindered
from .world import Job, Owner, Queue, Stall, Token, View


class Cancel(Call):
    """plane.request_cancel: waits for who moves the job, never for a batch of its attempt."""

    sql = "select plane.request_cancel(%s, 'somebody')"

    def __init__(self, job_id: int) -> None:
        self.job_id = job_id
        self.params = (job_id,)

    def waits_on(self, view: View) -> set[Token]:
        return {("job", self.job_id)}

    def refusal(self, view: View) -> str | None:
        return None if view.job(self.job_id) else "PL404"

    def answered(self, view: View, rows: list[Row], seen: Sight) -> None:
        job = view.job(self.job_id)
        assert job is not None
        assert rows == [(cancel(view, job),)]


class Retry(Call):
    """plane.retry_job."""

    sql = "select plane.retry_job(%s)"

    def __init__(self, job_id: int) -> None:
        self.job_id = job_id
        self.params = (job_id,)

    def waits_on(self, view: View) -> set[Token]:
        job = view.job(self.job_id)
        tokens = {("job", self.job_id), judging(self.job_id)}
        return tokens | (redrive_tokens(job) if job else set())

    def refusal(self, view: View) -> str | None:
        job = view.job(self.job_id)
        if job is None:
            return "PL404"
        return None if job.status == "poison" else "PL409"

    def answered(self, view: View, rows: list[Row], seen: Sight) -> None:
        job = view.job(self.job_id)
        assert job is not None
        view.hold(joining(job.id))
        live = live_job(view, job.queue, job.key)
        if live is not None:
            assert rows == [(live.id,)], "who has the key is the answer"
        else:
            assert rows == [(job.id,)]
            redrive(view, job)
        note_stalled(view, seen)


class RetryPoison(Call):
    """plane.retry_poison: the oldest of a queue, spread over a time in seconds."""

    sql = "select plane.retry_poison(%s, p_limit => %s, p_spread => %s)"

    def __init__(self, queue: str, limit: int, spread: int | None) -> None:
        self.queue, self.limit, self.spread = queue, limit, spread or 0
        self.params = (queue, limit, None if spread is None else timedelta(seconds=spread))
        self.chosen: list[Job] | None = None
        """What it had locked when it came to wait."""

    def came_to_wait(self, view: View) -> None:
        super().came_to_wait(view)
        self.chosen = self._oldest(view)

    def waits_on(self, view: View) -> set[Token]:
        return {token for job in view.jobs(self.queue) for token in redrive_tokens(job)}

    def _oldest(self, view: View) -> list[Job]:
        poison = [
            job
            for job in view.jobs(self.queue)
            if job.status == "poison" and not view.is_held(job.token)
        ]
        # one that somebody is leaving is passed over as well, if locked until the end
        view.hold(*[job.token for job in poison if view.is_held(judging(job.id))])
        free = [job for job in poison if not view.is_held(judging(job.id))]
        return sorted(free, key=lambda job: job.id)[: self.limit]

    def answered(self, view: View, rows: list[Row], seen: Sight) -> None:
        oldest = self._oldest(view) if self.chosen is None else self.chosen
        view.hold(*[token for job in oldest for token in (job.token, joining(job.id))])
        taken: list[Job] = []
        keys: set[str] = set()
        for job in oldest:
            is_free = job.key not in keys and live_job(view, job.queue, job.key) is None
            if job.key is None or is_free:
                taken.append(job)
                keys |= {job.key} if job.key else set()
        assert rows == [(len(taken),)]
        shares = {job.id: self.spread * at / len(taken) for at, job in enumerate(taken)}
        # those of a line first, line by line
        for job in sorted(taken, key=lambda job: (job.serial is None, job.serial or "", job.id)):
            redrive(view, job, shares[job.id])
        note_stalled(view, seen)


def redrive(view: View, job: Job, after: float = 0) -> None:
    """A poison job is live again: its attempts count on, it may have as many as at first."""
    keep(view, job)
    if job.key is not None:
        view.put(Owner(job.queue, job.key, job.id))
    budget = job.attempt + job.given
    job = replace(job, status="pending", budget=budget, priority=job.asked, fresh=True)
    if after > 0:
        view.put(replace(job, due=view.later(after)))
    elif job.serial is None:
        view.put(aged(view, job))
    else:
        place(view, job)


def redrive_tokens(job: Job) -> set[Token]:
    tokens = key_tokens(job.queue, job.key) | freed_tokens(job.queue, job.key)
    return tokens | ({job.line} if job.serial is not None else set())


class Setting(Call):
    """plane.create_queue for one that exists: only what is given changes."""

    sql = (
        "select plane.create_queue(%s, p_lease => %s, p_max_dequeues => %s, p_backoff => %s,"
        " p_notify => %s, p_max_depth => %s)"
    )

    def __init__(self, queue: str, **settings: int | str) -> None:
        self.queue, self.settings = queue, settings
        seconds = {
            name: timedelta(seconds=float(value))
            for name, value in settings.items()
            if name in ("lease", "backoff")
        }
        given = settings | seconds
        self.params = (queue, *map(given.get, SETTINGS))

    def waits_on(self, view: View) -> set[Token]:
        return {("queue", self.queue)}

    def answered(self, view: View, rows: list[Row], seen: Sight) -> None:
        view.put(with_settings(view.queue(self.queue), self.settings))


SETTINGS = ("lease", "max_dequeues", "backoff", "notify", "depth")


def with_settings(queue: Queue, settings: dict[str, int | str]) -> Queue:
    known = {name: getattr(queue, name) for name in queue.__dataclass_fields__}
    return Queue(**(known | settings))


class Pause(Call):
    """plane.pause_queue or plane.resume_queue."""

    def __init__(self, queue: str, paused: bool) -> None:
        self.queue, self.paused = queue, paused
        self.sql = f"select plane.{'pause' if paused else 'resume'}_queue(%s)"
        self.params = (queue,)

    def waits_on(self, view: View) -> set[Token]:
        return {("queue", self.queue)}

    def answered(self, view: View, rows: list[Row], seen: Sight) -> None:
        queue = view.queue(self.queue)
        if queue.paused is not self.paused:
            view.put(replace(queue, paused=self.paused))


class Sweep(Call):
    """plane.sweep: all that time has done, and nothing that somebody has in hand."""

    sql = "select plane.sweep()"
    waits = False

    def answered(self, view: View, rows: list[Row], seen: Sight) -> None:
        note_time(view, seen, set())
        left = [job for job in view.jobs() if is_overdue(view, job) and not is_hindered(view, job)]
        assert left == [], "a sweep leaves nothing that time has moved"
        # a waiter past its deadline is forgotten
        view.hold(*{waiter.token for waiter in view.waiters() if waiter.deadline < view.now})
        waiting = {job.line for job in view.jobs() if is_overdue(view, job)}
        for line in {job.line for job in view.jobs() if view.is_stalled(job.line)}:
            if not view.is_held(line) and line not in waiting:
                view.put(Stall(line, False))
        if view.alone:
            view.world.unseen &= {job.id for job in view.jobs() if view.is_held(job.token)}
