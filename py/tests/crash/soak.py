"""Sessions that call everything at random, in transactions of every kind."""

import random
import re
from collections.abc import Callable, Set
from itertools import count
from threading import Thread

import psycopg

from .ground import Connection, Ground
from .mix import Mix

EXPECTED = {
    "40001": "another snapshot than the newest",
    "40P01": "transactions of several calls that met crosswise",
    "55P03": "a wait that the function bounds",
    "PL404": "a job that was rolled back",
    "PL409": "a lost attempt; a job that is no poison",
    "PL429": "a full queue",
}
"""What may be answered in place of a result, and why."""

NOTES = ("claims", "floors", "looked")
"""Settings of a session in which the ledger notes something, one a queue."""


class Soaker(Thread):
    """One session, at work until the time is over."""

    def __init__(self, ground: Ground, name: str, seed: int, honest: bool) -> None:
        """An honest one leaves alone what the ledger notes in its session."""
        super().__init__(name=name, daemon=True)
        self.honest = honest
        self.ground = ground
        self.random = random.Random(seed)
        self.names = (f"{name}-{number}" for number in count(1))
        self.connection: Connection = psycopg.connect(ground.url, autocommit=True)
        self.mix = Mix(ground, self.connection, name, self.random)

    def run(self) -> None:
        ways = [self.alone] * 4 + [self.together] * 3 + [self.for_long, self.prepared]
        if not self.honest:
            ways.append(self.poison)
        try:
            while not self.ground.is_over():
                self.random.choice(ways)()
        except (psycopg.Error, AssertionError) as error:
            self.ground.errors.append(f"{self.name}: {error!r}")

    def alone(self) -> None:
        """A call, committed at once."""
        try:
            self.mix.call()
        except psycopg.Error as error:
            # a single call looks again by itself
            self._refused(error, {"40001"})
        else:
            self.mix.ended(committed=True)

    def together(self) -> None:
        """Calls in one transaction, parts of which may be taken back."""

        def several() -> None:
            for _ in range(self.random.randint(1, 4)):
                self.connection.execute("savepoint here")
                kept = len(self.mix.told)
                self.mix.call()
                if self.random.random() < 0.2:
                    self.connection.execute("rollback to here")
                    self.mix.taken_back(kept)

        isolation = self.random.choice(["read committed", "read committed", "repeatable read"])
        self._in_transaction(several, self._how(), isolation)

    def for_long(self) -> None:
        """A transaction that stays open while others get on."""

        def keep_open() -> None:
            self.mix.enqueue("mail")
            self.ground.let_others_go_on(self.random.randint(1, 60))
            self.mix.call()

        self._in_transaction(keep_open, self._how())

    def prepared(self) -> None:
        """A transaction that belongs to no session for a while; NOTIFY does not go with one."""
        name = next(self.names)

        def enqueue() -> None:
            self.mix.enqueue("quiet")
            self.mix.enqueue("quiet")

        self._in_transaction(enqueue, f"prepare transaction '{name}'", then=name)

    def poison(self) -> None:
        """Whoever shares a session may overwrite what the ledger notes in it, signature and all."""
        name = f"plane.{self.random.choice(NOTES)}_{self.random.randint(1, 3)}"
        ((mine,),) = self.connection.execute("select current_setting(%s, true)", (name,)).fetchall()
        if "#" in (mine or ""):
            self.ground.notes.append((name, mine))
        noted = [note for known, note in self.ground.notes if known == name]
        note = self.random.choice([*noted[-20:], "nonsense", "{1}|2|3", ""])
        if note in noted and self.random.random() < 0.5:
            # as if no row were below, and signed anew
            floor = self.random.choice([900_000_000, max(self.ground.jobs, default=0)])
            content = re.sub(r"\d+(?=[,}])", str(floor), note.partition("#")[2])
            ((note,),) = self.connection.execute(
                "select concat(hashtext(%s), '#', %s::text)", (content, content)
            ).fetchall()
        self.connection.execute("select set_config(%s, %s, false)", (name, note))

    def _in_transaction(
        self, work: Callable[[], None], end: str, isolation: str = "read committed", then: str = ""
    ) -> None:
        try:
            self.connection.execute(f"begin isolation level {isolation}")
            work()
            self.connection.execute(end)
        except psycopg.Error as error:
            self.connection.execute("rollback")
            self._refused(error)
            return
        if then:
            self.ground.let_others_go_on(self.random.randint(1, 60))
            end = self._how()
            self.connection.execute(f"{end} prepared '{then}'")
        self.mix.ended(committed=end == "commit")

    def _refused(self, error: psycopg.Error, but: Set[str] = frozenset()) -> None:
        if error.sqlstate not in EXPECTED.keys() - but:
            raise error
        self.ground.count(error.sqlstate)
        self.mix.ended(committed=False)

    def _how(self) -> str:
        return self.random.choice(["commit", "commit", "rollback"])
