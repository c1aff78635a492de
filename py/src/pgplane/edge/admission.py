"""Admission: how much of what lasts may be under way here, in all and for one caller."""

from collections import Counter
from contextlib import AbstractAsyncContextManager, ExitStack
from dataclasses import dataclass

from pgplane.edge.problems import Problem
from pgplane.edge.turns import Turns
from pgplane.settings import Settings


class Full(Problem):
    """There is no room: for this caller (429), or for anybody (503)."""

    def __init__(self, code: str, own: bool) -> None:
        """`code` is TOO_MANY_ and of what."""
        what = code.removeprefix("TOO_MANY_").lower()
        who = "you have as many {} under way as you may" if own else "this edge has all its {}"
        detail = f"{who.format(what)}; try again"
        super().__init__(429 if own else 503, code, detail, retry_after=2)


class Quota:
    """So many of something in all, and so many of them for one caller."""

    def __init__(self, code: str, total: int, per_caller: int) -> None:
        """`code`: of the refusal where they are taken."""
        self._code = code
        self._total = total
        self._per_caller = per_caller
        self._taken: Counter[str] = Counter()

    def __len__(self) -> int:
        return self._taken.total()

    def take(self, name: str, count: int = 1) -> ExitStack:
        """So many for the caller of this name, given back when it is closed; raises Full."""
        if self._taken[name] + count > self._per_caller:
            raise Full(self._code, own=True)
        if len(self) + count > self._total:
            raise Full(self._code, own=False)
        self._taken[name] += count
        taken = ExitStack()
        taken.callback(self._give_back, name, count)
        return taken

    def _give_back(self, name: str, count: int) -> None:
        self._taken[name] -= count
        if not self._taken[name]:
            del self._taken[name]


@dataclass(frozen=True, slots=True)
class Admission:
    """What is limited here. A caller is a person, by any number of tabs and tickets.

    Connections are what a stream costs, and the jobs that it waits for what it costs the database:
    both are counted. What does not last is not: callers take turns at it.
    """

    streams: Quota
    waits: Quota
    downloads: Quota
    questions: Turns

    @classmethod
    def from_settings(cls, settings: Settings) -> "Admission":
        return cls(
            streams=Quota("TOO_MANY_STREAMS", settings.max_streams, settings.streams_per_caller),
            waits=Quota("TOO_MANY_WAITS", settings.max_waits, settings.waits_per_caller),
            downloads=Quota(
                "TOO_MANY_DOWNLOADS", settings.max_downloads, max(1, settings.max_downloads // 10)
            ),
            questions=Turns(max(1, settings.pool_size - 1)),
        )

    def stream(self, name: str, jobs: int = 1) -> ExitStack:
        """Room for an open stream that waits for so many jobs; raises Full."""
        with ExitStack() as taken:
            taken.enter_context(self.streams.take(name))
            taken.enter_context(self.waits.take(name, jobs))
            return taken.pop_all()

    def download(self, name: str) -> ExitStack:
        """Room for a download; raises Full."""
        return self.downloads.take(name)

    def question(self, name: str) -> AbstractAsyncContextManager[None]:
        """A turn to ask, or to have something checked; raises Busy. It leaves one connection of the
        pool to what is no question."""
        return self.questions.of(name)
