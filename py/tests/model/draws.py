"""What a session does next, drawn by weight from what makes sense just then."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from hypothesis import strategies as st

from .asking import Enqueue, EnqueueMany, Submit, request_key
from .call import Call
from .contract import Ask
from .ledger import NOBODY, Ledger
from .reading import Await, Get, Leave, Register, Why
from .ruling import Cancel, Pause, Retry, RetryPoison, Setting, Sweep
from .scene import ACTORS, QUEUES, SCOPES, WORDS, envelope
from .working import (
    Claim,
    Complete,
    CompleteMany,
    Fail,
    Fence,
    FinishCancel,
    Progress,
    Release,
    Renew,
)
from .world import HELD, Job

Draw = Callable[[st.SearchStrategy[Any]], Any]

NAMES = [queue.name for queue in QUEUES]
NAME = st.sampled_from([*NAMES, NAMES[0], NAMES[0]])
ASK = st.builds(
    Ask,
    queue=NAME,
    key=st.sampled_from([None, "k1", "k1", "k2", request_key(SCOPES[0], WORDS[0])]),
    serial=st.sampled_from([None, "red", "red", "blue"]),
    priority=st.sampled_from([0, 0, 0, -1, 2]),
    after=st.sampled_from([None, None, None, -5, 5, 30]),
    budget=st.sampled_from([None, 1, 1, 2]),
)
ASKS = st.lists(ASK, min_size=1, max_size=5)
REQUEST = st.builds(
    Ask,
    queue=NAME,
    scope=st.sampled_from(SCOPES),
    word=st.sampled_from(WORDS),
    fresh=st.booleans(),
)
CALLER = st.sampled_from([*SCOPES, None])
SETTINGS = st.sampled_from(
    [
        {"lease": 40},
        {"max_dequeues": 1},
        {"max_dequeues": 4},
        {"backoff": 0},
        {"backoff": 15},
        {"depth": 3},
        {"depth": 0},
        {"notify": "always"},
        {"notify": "waiters"},
    ]
)


class Draws:
    """The calls of one session; each method draws one of its kind."""

    def __init__(self, ledger: Ledger, who: int, draw: Draw) -> None:
        self.ledger, self.who, self.draw = ledger, who, draw
        world = ledger.world
        views = [world.view(seer) for seer in (NOBODY, *world.open)]
        self.jobs = [*{job.id: job for view in views for job in view.jobs()}.values()]

    def calls(self) -> list[Call]:
        """Calls to make one after the other: mostly one."""
        weights = {"enqueue": 4, "enqueue_many": 2, "submit": 3, "claim": 8, "sweep": 2}
        if self.ledger.handed:
            weights |= {"complete": 3, "fail": 3, "let_go": 2, "renew": 1, "progress": 2}
        if self.jobs:
            weights |= {"cancel": 1, "get": 1, "why": 2, "register": 1, "wait": 3, "leave": 3}
        if any(job.status == "poison" for job in self.jobs):
            weights |= {"retry": 3}
            # one that waits has locked poison that another would pass over
            if not (self.ledger.waiting and isinstance(self.ledger.waiting[1], RetryPoison)):
                weights |= {"retry_poison": 2}
        if self.ledger.waiting is None:
            weights |= {"administer": 1}
        kinds = [kind for kind, weight in weights.items() for _ in range(weight)]
        calls: list[Call] = getattr(self, self._one_of(*kinds))()
        return calls

    def enqueue(self) -> list[Call]:
        return [Enqueue(self.draw(ASK), self.ledger.clock.now, self.ledger.keys.requests)]

    def enqueue_many(self) -> list[Call]:
        queue, asks = self.draw(NAME), self.draw(ASKS)
        return [EnqueueMany(queue, asks, self.ledger.clock.now, self.ledger.keys.requests)]

    def submit(self) -> list[Call]:
        ask, actor = self.draw(REQUEST), self._one_of(*ACTORS)
        caller = self.ledger.keys.callers[ask.scope, actor]
        return [Submit(replace(ask, caller=caller), envelope(ask.scope, actor))]

    def claim(self) -> list[Call]:
        n = self._one_of(None, None, None, 1, 4)
        return [Claim(self.draw(NAME), f"w{self.who}", n, self.ledger.keys.requests)]

    def complete(self) -> list[Call]:
        fences = [self._fence() for _ in range(self._one_of(1, 1, 1, 2, 3))]
        by = f"s{self.who}"
        return [CompleteMany(fences, by) if fences[1:] else Complete(fences[0], by)]

    def fail(self) -> list[Call]:
        return [Fail(self._fence(), self._one_of(None, None, 0, 5))]

    def let_go(self) -> list[Call]:
        if self._one_of(True, False):
            return [FinishCancel(self._fence("cancelling"), f"s{self.who}")]
        return [Release(self._fence())]

    def renew(self) -> list[Call]:
        fences = {self._fence() for _ in range(self._one_of(1, 2, 3))}
        return [Renew(f"w{self.who}", sorted(fences))]

    def progress(self) -> list[Call]:
        return [Progress(self._fence(), self.draw(st.integers(0, 9)))]

    def cancel(self) -> list[Call]:
        return [Cancel(self._job().id)]

    def retry(self) -> list[Call]:
        return [Retry(self._job("poison").id)]

    def retry_poison(self) -> list[Call]:
        limit, spread = self._one_of(1, 2, 4), self._one_of(None, 0, 40)
        return [RetryPoison(self.draw(NAME), limit, spread)]

    def administer(self) -> list[Call]:
        queue = self.draw(NAME)
        if self._one_of(True, False):
            return [Pause(queue, self._one_of(False, False, True))]
        return [Setting(queue, **self.draw(SETTINGS))]

    def sweep(self) -> list[Call]:
        return [Sweep()]

    def get(self) -> list[Call]:
        job, scope = self._job(), self.draw(CALLER)
        queue = self._one_of(job.queue, job.queue, *NAMES)
        return [Get(queue, job.id, scope, self.ledger.keys.scopes.get(scope or ""))]

    def why(self) -> list[Call]:
        return [Why(self._job().id, self.ledger.pids)]

    def register(self) -> list[Call]:
        job, scope = self._job(), self.draw(CALLER)
        queue = self._one_of(job.queue, job.queue, *NAMES)
        return [self._registration(queue, job, scope)]

    def wait(self) -> list[Call]:
        """As an edge does: register, then look."""
        requests = [job for job in self.jobs if job.scope]
        live = [job for job in requests if job.is_live]
        busy = [job for job in live if self.ledger.world.holders({job.token}, but=self.who)]
        job = self._one_of(*busy, *busy, *live, *(requests or self.jobs)[-1:])
        scope_key = self.ledger.keys.scopes.get(job.scope or "")
        return [
            self._registration(job.queue, job, job.scope),
            Await(job.queue, job.id, job.scope, scope_key),
        ]

    def leave(self) -> list[Call]:
        requests = [job for job in self.jobs if job.scope and job.is_live]
        job = self._one_of(*requests, *requests, self._job())
        scope = self._one_of(job.scope, job.scope, job.scope, self.draw(CALLER))
        scope_key = self.ledger.keys.scopes.get(scope or "")
        queue = self._one_of(job.queue, job.queue, *NAMES)
        return [Leave(queue, job.id, scope, scope_key, self._name(job))]

    def _registration(self, queue: str, job: Job, scope: str | None) -> Register:
        scope_key = self.ledger.keys.scopes.get(scope or "")
        now, wait = self.ledger.clock.now, timedelta(seconds=60)
        return Register(queue, job.id, scope, scope_key, self._name(job), now, wait)

    def _name(self, job: Job) -> str:
        """Who waits or leaves: a caller of the job's scope, or this session."""
        callers = [
            name for (scope, _), name in self.ledger.keys.callers.items() if scope == job.scope
        ]
        name: str = self._one_of(*callers, *callers, f"e{self.who}")
        return name

    def _one_of(self, *choices: Any) -> Any:
        return self.draw(st.sampled_from(choices))

    def _job(self, status: str = "") -> Job:
        """Any job that anybody sees, of that status, live or new before others."""
        jobs = sorted(self.jobs, key=lambda job: (job.status != status, not job.is_live, -job.id))
        return jobs[self.draw(st.integers(0, len(jobs) - 1))]

    def _fence(self, status: str = "") -> Fence:
        """An attempt that somebody was handed: one that holds its job, or has lost it."""
        jobs = [job for job in self.jobs if job.status in HELD and status in (job.status, "")]
        held = [(job.id, job.attempt) for job in jobs]
        ids = {job.id for job in jobs}
        lost = [fence for fence in self.ledger.handed if fence[0] in ids and fence not in held]
        fence: Fence = self._one_of(*held, *held, *lost[-3:], self.ledger.handed[-1])
        return fence
