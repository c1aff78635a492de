"""A real ledger and several sessions on it, in step with the model.

A call that comes to wait for another session either goes on waiting, one at a time, and is checked
when it ends; or its caller gives up and nothing has changed.
"""

from collections import Counter
from typing import ClassVar

import psycopg
from psycopg.errors import QueryCanceled

from ..support.clock import Clock
from ..support.oracle import broken
from ..support.postgres import for_role
from ..support.sessions import Stage
from .call import Call
from .reading import Await
from .ruling import Pause, Sweep
from .scene import QUEUES, prepare
from .sight import LOOK, Sight, compare, sight
from .working import Claim, Complete, Fence
from .world import Transaction, Waiter, World

SESSIONS = 4
PATIENT = (0, 1, 2)
IN_TRANSACTIONS = (3,)
"""Sessions that call in transactions only; the others do when they have begun one."""
NOBODY = -1


class Ledger:
    """A real ledger, several sessions on it, and the world as the model has it."""

    counts: ClassVar[Counter[str]] = Counter()
    """What all runs did: steps, calls, waits and the like."""

    def __init__(self, url: str) -> None:
        self.connection = psycopg.connect(url, autocommit=True)
        self.told: Counter[int] = Counter()
        self.connection.add_notify_handler(self._hear)
        self.clock = Clock(self.connection)
        self.keys = prepare(self.connection)
        self.stage = Stage(url)
        self.sessions = self.stage.enter(*[for_role(url, "test_everyone")] * SESSIONS)
        self.pids = {session.pid: who for who, session in enumerate(self.sessions)}
        self.world = World(self.clock.now)
        self.world.things = {queue.token: queue for queue in QUEUES}
        self.waiting: tuple[int, Call] | None = None
        self.awaited: dict[int, int] = {}
        self.handed: list[Fence] = []

    def close(self) -> None:
        self.stage.close()
        self.connection.close()

    # Steps -------------------------------------------------------------------------------------

    def call(self, who: int, *calls: Call) -> None:
        """A session calls, one after the other as long as it goes well."""
        for call in calls:
            if self._has_failed(who):
                self.back(who)
                return
            if who in IN_TRANSACTIONS and who not in self.world.open:
                self.begin(who)
            if self.waiting is None or self.waiting[0] != who:
                self._call(who, call)

    def _call(self, who: int, call: Call) -> None:
        """A session whose call has to wait stays so if it is patient and no other does."""
        self.counts["calls"] += 1
        session = self.sessions[who]
        session.start(call.sql, *call.params)
        blockers = session.stuck() if call.waits else set()
        if not blockers:
            self._finish(who, call)
            return
        self._check_blockers(who, call, blockers)
        if who in PATIENT and self.waiting is None:
            self.counts["waits"] += 1
            self.waiting = (who, call)
            call.came_to_wait(self.world.view(who))
            return
        self.counts["given up"] += 1
        session.cancel()
        try:
            session.result()
        except QueryCanceled:
            self._refused(who)
        else:
            raise AssertionError(f"{call} waited and yet went through")
        self._look_around()

    def begin(self, who: int) -> None:
        """A transaction, or a savepoint in the one that is open."""
        if self._has_failed(who):
            self.back(who)
        elif who in self.world.open:
            self.sessions[who].run(f"savepoint s{len(self.world.open[who].saved)}")
            self.world.open[who].save()
        else:
            self.sessions[who].begin()
            self.world.open[who] = Transaction()

    def back(self, who: int) -> None:
        """Back to the last savepoint, or out of the transaction."""
        transaction = self.world.open.get(who)
        if transaction is None:
            return
        if not transaction.saved:
            self.end(who, committed=False)
            return
        self.sessions[who].run(f"rollback to savepoint s{len(transaction.saved) - 1}")
        self.world.let_go(transaction)
        transaction.back()
        transaction.failed = False
        self._look_around()

    def release(self, who: int) -> None:
        """What came after the last savepoint belongs to what was before."""
        transaction = self.world.open.get(who)
        if transaction and transaction.saved and not transaction.failed:
            self.sessions[who].run(f"release savepoint s{len(transaction.saved) - 1}")
            transaction.saved.pop()
            transaction.is_merged = True

    def end(self, who: int, committed: bool) -> None:
        if who in self.world.open:
            committed = committed and not self._has_failed(who)
            self.counts["commits" if committed else "rollbacks"] += 1
            self.sessions[who].run("commit" if committed else "rollback")
            for job_id in self._ended_unheld(who):
                self.awaited.pop(job_id, None)
            self.world.end(who, committed)
            self._look_around()

    def later(self, seconds: int) -> None:
        self.clock.move(seconds)
        self.world.now = self.clock.now
        self._forget_who_waits_no_more()

    def drain(self) -> None:
        """Whatever happened: when time has passed, and after one sweep, all jobs can be done."""
        for _ in range(SESSIONS):
            for who in set(self.world.open) - {self.waiting[0] if self.waiting else NOBODY}:
                self.end(who, committed=False)
        assert self.waiting is None, "it waits for nobody"
        self.later(10 * 86_400)
        self.call(0, Sweep())
        for queue in QUEUES:
            self.call(0, Pause(queue.name, paused=False))
            while True:
                before = len(self.handed)
                self.call(0, Claim(queue.name, "s0", 5, self.keys.requests))
                if len(self.handed) == before:
                    break
                for fence in self.handed[before:]:
                    self.call(0, Complete(fence, "drain"))
        left = [job for job in self.world.view(0).jobs() if job.is_live]
        assert left == [], "nothing is live for ever"

    # Checks ------------------------------------------------------------------------------------

    def _finish(self, who: int, call: Call, waited: bool = False) -> None:
        """A call has ended: so must the model have it."""
        session = self.sessions[who]
        refusal = call.refusal(self.world.view(who))
        try:
            rows = session.result()
        except psycopg.Error as error:
            if error.sqlstate != refusal:
                raise
            self.counts["refusals"] += 1
            self._refused(who)
        else:
            # depth is looked at before the key is waited for
            assert refusal is None or (waited and refusal == "PL429"), f"{call} is to be refused"
            seen = self._sight(who if who in self.world.open else NOBODY)
            with self.world.acting(who) as view:
                try:
                    call.answered(view, rows, seen)
                    compare(view, seen)
                except AssertionError as error:
                    error.add_note(f"{call} by s{who} answered {rows}")
                    raise
            if isinstance(call, Claim):
                self.handed += [(row[0], row[1]) for row in rows]
            self._note_waiter(who, call)
        self._look_around()

    def _look_around(self) -> None:
        """After each step: who waits may go on, everybody sees what is committed, all is well."""
        if self.waiting:
            who, call = self.waiting
            blockers = self.sessions[who].stuck()
            if not blockers:
                self.waiting = None
                self._finish(who, call, waited=True)
                return
            self._check_blockers(who, call, blockers)
        compare(self.world.view(NOBODY), self._sight(NOBODY))
        self._check_told()
        assert broken(self.connection) == []

    def _check_blockers(self, who: int, call: Call, blockers: set[int]) -> None:
        holders = self.world.holders(call.waits_on(self.world.view(who)), but=who)
        if self.waiting:
            holders.add(self.waiting[0])
            if self.waiting[0] == who:
                holders |= {other for other, at in self.world.open.items() if at.is_back}
        for blocker in {self.pids[pid] for pid in blockers} - holders:
            held = self.world.open[blocker].held
            raise AssertionError(f"{call} has not to wait for s{blocker}, who holds {held}")

    def _note_waiter(self, who: int, call: Call) -> None:
        """A caller who waits, and has looked and found it unfinished, is told of the end."""
        if not isinstance(call, Await):
            return
        job = self.world.view(who).job(call.job_id)
        is_noted = any(waiter.job_id == call.job_id for waiter in self._waiters())
        if job and job.is_live and is_noted:
            self.awaited.setdefault(job.id, self.told[job.id])

    def _ended_unheld(self, who: int) -> list[int]:
        """Jobs that a transaction both claims and ends: who comes to wait meanwhile meets no lease.

        The ledger tells them, by the wall clock, which the model's is behind; here they look again.
        """
        before, after = self.world.view(NOBODY), self.world.view(who)
        return [
            job.id
            for job in after.jobs()
            if not job.is_live and (old := before.job(job.id)) and old.attempt < job.attempt
        ]

    def _forget_who_waits_no_more(self) -> None:
        waited_for = {waiter.job_id for waiter in self._waiters()}
        self.awaited = {job_id: n for job_id, n in self.awaited.items() if job_id in waited_for}

    def _check_told(self) -> None:
        self._forget_who_waits_no_more()
        view = self.world.view(NOBODY)
        for job_id, before in list(self.awaited.items()):
            job = view.job(job_id)
            if job is not None and job.is_live:
                continue
            del self.awaited[job_id]
            for _ in range(100):
                self.connection.execute("select pg_sleep(0.001)")
                if self.told[job_id] > before:
                    break
            else:
                raise AssertionError(f"who waits for job {job_id} was not told")

    def _waiters(self) -> list[Waiter]:
        """Who waits, committed and within the deadline, and has not left."""
        return [
            thing
            for thing in self.world.things.values()
            if isinstance(thing, Waiter)
            and thing.state == "waits"
            and thing.deadline > self.world.now
        ]

    def _refused(self, who: int) -> None:
        """An error changes nothing, and its transaction can only go back."""
        transaction = self.world.open.get(who)
        if transaction:
            self.world.let_go(transaction)
            transaction.back()
            transaction.failed = True

    def _has_failed(self, who: int) -> bool:
        return who in self.world.open and self.world.open[who].failed

    def _sight(self, who: int) -> Sight:
        if who == NOBODY:
            return sight(self.connection.execute(LOOK).fetchall())
        return sight(self.sessions[who].run(LOOK))

    def _hear(self, notify: psycopg.Notify) -> None:
        self.told.update(map(int, notify.payload.split(",")))
