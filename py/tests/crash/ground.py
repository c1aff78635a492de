"""What the sessions of a soak share."""

from collections import Counter, deque
from threading import Condition
from time import monotonic
from typing import Any

import psycopg

from .account import Account

Connection = psycopg.Connection[tuple[Any, ...]]


class Ground:
    """The database, the account of all, and how far they have got."""

    def __init__(self, url: str, seconds: float) -> None:
        self.url = url
        self.until = monotonic() + seconds
        self.account = Account()
        self.errors: list[str] = []
        self.counts: Counter[str] = Counter()
        self.jobs: deque[int] = deque(maxlen=200)
        """The last jobs that anybody heard of, also of what was rolled back."""
        self.handed: deque[tuple[int, int]] = deque(maxlen=100)
        """The last attempts that anybody was handed."""
        self.notes: deque[tuple[str, str]] = deque(maxlen=300)
        """What the ledger noted in sessions: the settings' names and values."""
        self._progress = Condition()

    def is_over(self) -> bool:
        return monotonic() > self.until or bool(self.errors)

    def count(self, what: str) -> None:
        with self._progress:
            self.counts[what] += 1
            self._progress.notify_all()

    def let_others_go_on(self, steps: int) -> None:
        """Until so much more has been done by whomever, or they all stand still, waiting for us."""
        with self._progress:
            until = self.counts.total() + steps
            while self.counts.total() < until and self._progress.wait(0.3):
                pass

    def note(self, told: list[dict[str, Any]]) -> None:
        """What is committed."""
        with self._progress:
            for each in told:
                self.account.note(each)
