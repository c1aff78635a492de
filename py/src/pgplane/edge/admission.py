"""Admission: how much of what lasts may be under way here, in all and for one caller."""

from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass

from pgplane.edge.problems import Problem
from pgplane.settings import Settings

_RETRY = {"Retry-After": "2"}


class Full(Exception):
    """There is no place left; `own`: for this caller, while others may still come."""

    def __init__(self, own: bool) -> None:
        super().__init__()
        self.own = own


class Places:
    """So many places in all, and so many of them for one caller."""

    def __init__(self, total: int, per_caller: int) -> None:
        self._total = total
        self._per_caller = per_caller
        self._taken: Counter[str] = Counter()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def take(self, name: str) -> ExitStack:
        """A place for the caller of this name, given back when it is closed; raises Full."""
        if self._taken[name] >= self._per_caller:
            raise Full(own=True)
        if self._count >= self._total:
            raise Full(own=False)
        self._taken[name] += 1
        self._count += 1
        place = ExitStack()
        place.callback(self._give_back, name)
        return place

    def _give_back(self, name: str) -> None:
        self._count -= 1
        self._taken[name] -= 1
        if not self._taken[name]:
            del self._taken[name]


@dataclass(frozen=True, slots=True)
class Admission:
    """What is limited here. A caller is a person, by any number of tabs and tickets."""

    streams: Places
    waits: Places
    downloads: Places

    @classmethod
    def from_settings(cls, settings: Settings) -> "Admission":
        per_caller = settings.streams_per_caller
        return cls(
            streams=Places(settings.max_streams, per_caller),
            waits=Places(settings.max_waiters, per_caller),
            downloads=Places(settings.max_downloads, max(1, settings.max_downloads // 10)),
        )

    def stream(self, name: str) -> ExitStack:
        """A place for an open stream; raises Problem 429 (this caller's are taken) or 503."""
        try:
            return self.streams.take(name)
        except Full as full:
            if full.own:
                detail = "you have as many streams open as you may; end one, or use one for all"
                raise Problem(429, "TOO_MANY_STREAMS", detail, _RETRY) from None
            detail = "this edge has as many streams open as it may; poll, or try again"
            raise Problem(503, "TOO_MANY_STREAMS", detail, _RETRY) from None

    def wait(self, name: str) -> ExitStack | None:
        """A place for a question that waits for its answer; None: it is to go on without."""
        try:
            return self.waits.take(name)
        except Full:
            return None

    def download(self, name: str) -> ExitStack:
        """A place for a download; raises Problem 429 (this caller's are taken) or 503."""
        try:
            return self.downloads.take(name)
        except Full as full:
            if full.own:
                detail = "you have as many downloads under way as you may; try again"
                raise Problem(429, "TOO_MANY_DOWNLOADS", detail, _RETRY) from None
            raise too_many_downloads() from None


def too_many_downloads() -> Problem:
    """The refusal of a download that would hold up others."""
    detail = "this edge has as many downloads under way as it may; try again"
    return Problem(503, "TOO_MANY_DOWNLOADS", detail, _RETRY)
