"""Random interleavings of every function by several sessions."""

from typing import ClassVar

from hypothesis import note
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from .draws import Draw, Draws
from .ledger import NOBODY, SESSIONS, Ledger

ENDS = ["commit", "commit", "commit", "rollback", "savepoint", "release", "back"]


class Machine(RuleBasedStateMachine):
    """One rule, so that no run goes without a kind of call; weights are in Draws."""

    url: ClassVar[str]

    def __init__(self) -> None:
        super().__init__()
        self.ledger = Ledger(self.url)
        self.is_well = True

    def teardown(self) -> None:
        try:
            if self.is_well:
                self.ledger.drain()
        finally:
            self.ledger.close()

    @rule(who=st.integers(0, SESSIONS - 1), data=st.data())
    def step(self, who: int, data: st.DataObject) -> None:
        # one that waits leaves its turns to the next; nothing is drained after a step that failed
        if self.ledger.waiting and who == self.ledger.waiting[0]:
            who = (who + 1) % SESSIONS
        self.is_well = False
        self.ledger.counts["steps"] += 1
        kind = data.draw(st.sampled_from(["call"] * 6 + ["transaction"] * 2 + ["time"]))
        if kind == "time" and self.ledger.waiting is None:
            self.let_time_pass(data.draw)
        elif kind == "transaction":
            self.begin_or_end(who, data.draw)
        else:
            self.call(who, data.draw)
        self.is_well = True

    def call(self, who: int, draw: Draw) -> None:
        calls = Draws(self.ledger, who, draw).calls()
        note(f"s{who}: {calls}")
        self.ledger.call(who, *calls)

    def begin_or_end(self, who: int, draw: Draw) -> None:
        waiting = self.ledger.waiting[0] if self.ledger.waiting else NOBODY
        others = sorted(set(self.ledger.world.open) - {waiting})
        who = draw(st.sampled_from([*others, who]))
        if who not in self.ledger.world.open:
            note(f"s{who}: begin")
            self.ledger.begin(who)
            return
        how = draw(st.sampled_from(ENDS))
        note(f"s{who}: {how}")
        if how == "savepoint":
            self.ledger.begin(who)
        elif how == "release":
            self.ledger.release(who)
        elif how == "back":
            self.ledger.back(who)
        else:
            self.ledger.end(who, committed=how == "commit")

    def let_time_pass(self, draw: Draw) -> None:
        seconds = draw(st.sampled_from([2, 2, 2, 11, 35, 70]))
        note(f"{seconds} seconds go by")
        self.ledger.later(seconds)
