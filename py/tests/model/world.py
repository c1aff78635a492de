"""What a ledger holds, as its contract has it, seen by several sessions at once.

A `Thing` never changes: a session puts a new one in its place. What a session puts is its own
until it commits, and what it holds meanwhile is named by tokens, such as `("job", 7)`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from typing import Any

Token = tuple[Any, ...]

LIVE = ("pending", "waiting", "in_progress", "cancelling")
HELD = ("in_progress", "cancelling")


@dataclass(frozen=True)
class Queue:
    """A queue's settings; times in seconds, `depth` 0 is no limit."""

    name: str
    lease: int
    max_dequeues: int
    backoff: int
    factor: int
    notify: str
    depth: int = 0
    paused: bool = False
    priorities: frozenset[int] = frozenset({0})

    @property
    def token(self) -> Token:
        return ("queue", self.name)


@dataclass(frozen=True)
class Job:
    """A job; `age` is its place among the ready ones, `joined` its place in its serial line."""

    id: int
    queue: str
    key: str | None
    serial: str | None
    scope: str | None
    given: int
    """Attempts that it was given at first."""
    asked: int
    """Priority at first."""
    priority: int
    budget: int
    status: str = "pending"
    attempt: int = 0
    age: float = 0
    asked_for: datetime | None = None
    """When it was scheduled for."""
    due: datetime | None = None
    backs_off: bool = False
    joined: int | None = None
    worker: str | None = None
    lease_until: datetime | None = None
    fresh: bool = False
    result: str | None = None
    caller: str | None = None
    """The name of who asked for it first, where it is a request."""
    created: datetime | None = None

    @property
    def token(self) -> Token:
        return ("job", self.id)

    @property
    def is_live(self) -> bool:
        return self.status in LIVE

    @property
    def is_ready(self) -> bool:
        return self.status == "pending" and self.due is None

    @property
    def is_head(self) -> bool:
        return self.is_live and self.joined is not None and self.status != "waiting"

    @property
    def line(self) -> Token:
        return ("line", self.queue, self.serial)


@dataclass(frozen=True)
class Owner:
    """Which job took a dedupe key last: the key is free unless that one is live."""

    queue: str
    key: str
    job_id: int

    @property
    def token(self) -> Token:
        return ("key", self.queue, self.key)


@dataclass(frozen=True)
class Report:
    """What an attempt said of itself; the one with the highest number counts."""

    number: int
    job_id: int
    attempt: int
    done: int

    @property
    def token(self) -> Token:
        return ("report", self.number)


@dataclass(frozen=True)
class Waiter:
    """Somebody who waits for a job or wants it; `left`: asked first, and left; `gone`: no more."""

    job_id: int
    name: str
    deadline: datetime
    state: str = "waits"

    @property
    def token(self) -> Token:
        return ("waiter", self.job_id, self.name)


@dataclass(frozen=True)
class Stall:
    """Whether the head of a line ended while somebody held it: a claim or a sweep hands it on."""

    line: Token
    is_so: bool

    @property
    def token(self) -> Token:
        return ("stall", *self.line)


Thing = Queue | Job | Owner | Report | Stall | Waiter


@dataclass
class Transaction:
    """What a session has changed and holds, and how that was at each of its savepoints."""

    changes: dict[Token, Thing] = field(default_factory=dict)
    held: set[Token] = field(default_factory=set)
    saved: list[tuple[dict[Token, Thing], set[Token]]] = field(default_factory=list)
    failed: bool = False
    is_merged: bool = False
    """A savepoint of it was released: the server no longer tells whose what came after it is."""
    is_back: bool = False
    """It went back to a savepoint: who waits for what a batch had taken since waits for its end."""

    def save(self) -> None:
        self.saved.append((dict(self.changes), set(self.held)))

    def back(self) -> None:
        """To the last savepoint, or to the beginning."""
        changes, held = self.saved[-1] if self.saved else ({}, set())
        self.changes, self.held = dict(changes), set(held)
        self.is_back = True


class World:
    """What is committed, and the transactions under way, by the number of their session."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        self.things: dict[Token, Thing] = {}
        self.open: dict[int, Transaction] = {}
        self.ticks = count(1)
        self.drawn: dict[int, float] = {}
        """When each id was drawn, in the order of events."""
        self.unseen: set[int] = set()
        """Jobs that a transaction touched which has ended since the last sweep."""

    def draw(self, job_id: int, about: float) -> float:
        """When an id was drawn: about then, and after all lower ones."""
        before = max((at for known, at in self.drawn.items() if known < job_id), default=0.0)
        after = min((at for known, at in self.drawn.items() if known > job_id), default=before + 1)
        is_between = before < about and (about < after or job_id > max(self.drawn, default=0))
        self.drawn[job_id] = about if is_between else (before + after) / 2
        return self.drawn[job_id]

    def view(self, who: int) -> "View":
        return View(self, who, self.open.get(who, Transaction()))

    @contextmanager
    def acting(self, who: int) -> Iterator["View"]:
        """A call by a session: in its transaction, else committed in the end."""
        alone = who not in self.open
        transaction = self.open.setdefault(who, Transaction())
        try:
            yield View(self, who, transaction, alone)
        finally:
            if alone:
                self.things.update(transaction.changes)
                del self.open[who]

    def end(self, who: int, committed: bool) -> None:
        """A transaction ends."""
        transaction = self.open.pop(who)
        self.let_go(transaction)
        if committed:
            self.things.update(transaction.changes)

    def let_go(self, transaction: Transaction) -> None:
        """What a transaction touched may show, or show again, long after its time."""
        self.unseen |= {token[1] for token in transaction.held if token[0] == "job"}

    def holders(self, tokens: set[Token], but: int) -> set[int]:
        """The other sessions that hold any of these."""
        return {who for who, at in self.open.items() if who != but and at.held & tokens}


class View:
    """The world as one session sees it, and its pen."""

    def __init__(
        self, world: World, who: int, transaction: Transaction, alone: bool = False
    ) -> None:
        self.world = world
        self.now = world.now
        self.alone = alone
        """What it puts is committed at once."""
        self._who = who
        self._mine = transaction

    def job(self, job_id: int) -> Job | None:
        thing = self._get(("job", job_id))
        assert thing is None or isinstance(thing, Job)
        return thing

    def queue(self, name: str) -> Queue:
        thing = self._get(("queue", name))
        assert isinstance(thing, Queue)
        return thing

    def owner(self, queue: str, key: str) -> int | None:
        thing = self._get(("key", queue, key))
        return thing.job_id if isinstance(thing, Owner) else None

    def jobs(self, queue: str | None = None) -> list[Job]:
        return [
            thing
            for thing in self._all()
            if isinstance(thing, Job) and queue in (None, thing.queue)
        ]

    def queues(self) -> list[Queue]:
        return [thing for thing in self._all() if isinstance(thing, Queue)]

    def waiters(self) -> list[Waiter]:
        return [thing for thing in self._all() if isinstance(thing, Waiter)]

    def waiter(self, job_id: int, name: str) -> Waiter | None:
        """Who is noted under that name, and has not been forgotten by a sweep, or might be."""
        thing = self._get(("waiter", job_id, name))
        assert thing is None or isinstance(thing, Waiter)
        return thing if thing and thing.state != "gone" and thing.deadline >= self.now else None

    def progress(self, job: Job) -> int | None:
        """What the attempt that holds or ended the job last reported."""
        if job.status in ("pending", "waiting"):
            return None
        reports = [
            thing
            for thing in self._all()
            if isinstance(thing, Report) and (thing.job_id, thing.attempt) == (job.id, job.attempt)
        ]
        return max(reports, key=lambda report: report.number).done if reports else None

    def put(self, thing: Thing) -> None:
        """Change a thing, and hold it."""
        self._mine.changes[thing.token] = thing
        self._mine.held.add(thing.token)

    def hold(self, *tokens: Token) -> None:
        self._mine.held.update(tokens)

    def is_stalled(self, line: Token) -> bool:
        """Whether that may be so: a claim that found nobody waiting there has said nothing."""
        thing = self._get(("stall", *line))
        return isinstance(thing, Stall) and thing.is_so

    def is_held(self, *tokens: Token) -> bool:
        """Whether another session holds any of these."""
        return bool(self.world.holders(set(tokens), but=self._who))

    def is_nameless(self, token: Token) -> bool:
        """Whether it is held, and who holds it may not be found out."""
        holders = self.world.holders({token}, but=self._who)
        return any(self.world.open[who].is_merged for who in holders)

    def is_held_by(self, who: int, *tokens: Token) -> bool:
        """Whether that other session holds any of these."""
        return who in self.world.holders(set(tokens), but=self._who)

    def tick(self) -> int:
        """The next moment in the order of events."""
        return next(self.world.ticks)

    def later(self, seconds: float) -> datetime:
        return self.now + timedelta(seconds=seconds)

    def _get(self, token: Token) -> Thing | None:
        return self._mine.changes.get(token) or self.world.things.get(token)

    def _all(self) -> list[Thing]:
        return list({**self.world.things, **self._mine.changes}.values())
