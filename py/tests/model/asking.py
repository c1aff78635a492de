"""The producers' calls."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from ..support.sessions import Row
from .call import Call, freed_tokens, key_tokens
from .contract import Ask, create, is_full, join, joins, live_job, open_priority
from .interest import INTEREST, joining, judging, keep, note_interest
from .sight import Sight, note_put_off, note_stalled
from .world import Job, Token, View

OPERATION = "ask"

DedupeKeys = Mapping[tuple[str, str], str]
"""The dedupe keys of requests, by queue and name; any other is its own name."""


class Producing(Call):
    """A call that makes jobs, or joins live ones."""

    def __init__(self, asks: list[Ask]) -> None:
        self.asks = asks
        self.owners: dict[str, tuple[int | None, Job | None]] = {}
        """Of each key, when the call came to wait: who took it last, and the live job."""
        self.opening: set[Token] = set()
        """The queue, where the call had a new priority for it by then: it keeps it locked."""

    def came_to_wait(self, view: View) -> None:
        super().came_to_wait(view)
        self.opening = self.waits_on(view) & {queue.token for queue in view.queues()}
        if view.is_held(*self.opening):
            # for a priority that is new to the queue: that comes before ids are drawn
            self.began = None
        for ask in self.asks:
            if ask.key is not None:
                live = live_job(view, ask.queue, ask.key)
                self.owners[ask.key] = (view.owner(ask.queue, ask.key), live)

    def joinable(self, view: View, ask: Ask, answer: int | None = None) -> Job | None:
        """The live job to join; one that has ended was live while the call waited elsewhere."""
        _, before = self.owners.get(ask.key or "", (None, None))
        if before is not None and before.id == answer:
            return view.job(before.id)
        live = live_job(view, ask.queue, ask.key)
        return live if live is not None and joins(view, live, ask) else None

    def drawn_at(self, view: View, ask: Ask) -> int:
        """When an id was drawn: before it waited, unless who had the key has ended as well."""
        if self.began is None or ask.key is None:
            return self.began or view.tick()
        owner, _ = self.owners[ask.key]
        return self.began if view.owner(ask.queue, ask.key) == owner else view.tick()


class Asking(Producing):
    """A call with one ask: its own job, or the live one of its key."""

    def __init__(self, ask: Ask) -> None:
        super().__init__([ask])
        self.ask = ask
        self.in_other_hands: int | None = None
        """The live job that a fresh call did not join when it came to wait for its key."""
        self.is_judged = False
        """It came to wait for who is leaving the live job: no id is drawn before."""

    def came_to_wait(self, view: View) -> None:
        super().came_to_wait(view)
        live = live_job(view, self.ask.queue, self.ask.key)
        if live is not None:
            self.is_judged = view.is_held(judging(live.id))
            if not joins(view, live, self.ask):
                self.in_other_hands = live.id

    def drawn_at(self, view: View, ask: Ask) -> int:
        return view.tick() if self.is_judged else super().drawn_at(view, ask)

    def waits_on(self, view: View) -> set[Token]:
        return _tokens(view, self.ask)

    def refusal(self, view: View) -> str | None:
        if self.joinable(view, self.ask) is not None:
            return None
        return "PL429" if is_full(view, self.queue_row(view, self.ask.queue)) else None

    def answered(self, view: View, rows: list[Row], seen: Sight) -> None:
        ((job_id, coalesced),) = rows
        view.hold(*self.opening)
        open_priority(view, self.ask.queue, self.ask.priority)
        # a fresh call holds the job that it finds, whether it joins that or not
        _, before = self.owners.get(self.ask.key or "", (None, None))
        for found in (before, live_job(view, self.ask.queue, self.ask.key)):
            if found is not None and found.scope is not None:
                view.hold(joining(found.id))
        live = self.joinable(view, self.ask, job_id)
        if live is not None and not (live.id == self.in_other_hands and not coalesced):
            assert (job_id, coalesced) == (live.id, True), f"it should have joined {live}"
            _join(view, live, self.ask, seen)
        else:
            assert coalesced is False, "there was nothing to join"
            assert view.job(job_id) is None, "an id is given once"
            queue = self.queue_row(view, self.ask.queue)
            create(view, self.ask, queue, job_id, self.drawn_at(view, self.ask))
        note_stalled(view, seen)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.ask})"


class Enqueue(Asking):
    """plane.enqueue."""

    sql = (
        "select job_id, coalesced from plane.enqueue(%s, %s, p_dedupe_key => %s,"
        " p_serial_key => %s, p_priority => %s, p_available_at => %s, p_max_dequeues => %s)"
    )

    def __init__(self, ask: Ask, now: datetime, keys: DedupeKeys) -> None:
        super().__init__(ask)
        at = None if ask.after is None else now + timedelta(seconds=ask.after)
        key = keys.get((ask.queue, ask.key or ""), ask.key)
        self.params = (
            ask.queue, OPERATION, key, ask.serial, ask.priority, at, ask.budget
        )  # fmt: skip


class Submit(Asking):
    """plane.submit_request; its key is the question."""

    sql = (
        "select job_id, coalesced from plane.submit_request(%s, %s, %s::jsonb, %s::jsonb,"
        " p_fresh => %s)"
    )

    def __init__(self, ask: Ask, envelope: str) -> None:
        super().__init__(replace(ask, key=request_key(ask.scope, ask.word)))
        self.params = (ask.queue, OPERATION, json.dumps({"word": ask.word}), envelope, ask.fresh)


class EnqueueMany(Producing):
    """plane.enqueue_many: each as enqueue would, all of them or none."""

    sql = "select ordinality, job_id, coalesced from plane.enqueue_many(%s, %s::jsonb)"

    def __init__(self, queue: str, asks: list[Ask], now: datetime, keys: DedupeKeys) -> None:
        super().__init__([replace(ask, queue=queue) for ask in asks])
        self.queue = queue
        self.params = (queue, json.dumps([_element(ask, now, keys) for ask in self.asks]))

    def waits_on(self, view: View) -> set[Token]:
        return {
            token
            for ask in self.asks
            for token in _tokens(view, ask) | freed_tokens(ask.queue, ask.key)
        }

    def refusal(self, view: View) -> str | None:
        keys = {ask.key for ask in self.asks if ask.key is not None}
        first = [next(ask for ask in self.asks if ask.key == key) for key in keys]
        new = [ask for ask in first if self.joinable(view, ask) is None]
        more = len(new) + len([ask for ask in self.asks if ask.key is None])
        return "PL429" if more and is_full(view, self.queue_row(view, self.queue), more) else None

    def answered(self, view: View, rows: list[Row], seen: Sight) -> None:
        assert [row[0] for row in rows] == list(range(1, len(self.asks) + 1))
        view.hold(*self.opening)
        for ask in self.asks:
            open_priority(view, self.queue, ask.priority)
        ids: dict[str, int] = {}
        new, joined = [], []
        for at, (ask, (_, job_id, coalesced)) in enumerate(zip(self.asks, rows, strict=True)):
            live = self.joinable(view, ask, job_id)
            first = ask.key is None or ask.key not in ids
            assert coalesced is (live is not None or not first)
            if coalesced:
                assert job_id == (live.id if live else ids[ask.key or ""])
                joined.append((job_id, ask))
            else:
                assert view.job(job_id) is None, "an id is given once"
                new.append((ask, job_id, at))
            if ask.key is not None:
                ids[ask.key] = job_id
        queue = self.queue_row(view, self.queue)
        # those that are ready at once come first, then the lines
        for ask, job_id, _ in sorted(new, key=lambda made: (made[0].serial is not None, made[2])):
            create(view, ask, queue, job_id, self.began or view.tick())
        for job_id, ask in joined:
            job = view.job(job_id)
            assert job is not None
            _join(view, job, ask, seen)
        note_stalled(view, seen)


def request_key(scope: str | None, word: str | None) -> str:
    """The name of a request's dedupe key."""
    return f"request {scope} {word}"


def _join(view: View, job: Job, ask: Ask, seen: Sight) -> None:
    join(view, job, ask)
    if ask.caller is not None:
        note_interest(view, job, ask.caller, view.now + INTEREST, "wants")
    else:
        keep(view, job)
    if job.due is not None and job.serial is not None:
        note_put_off(view, job, seen)


def _tokens(view: View, ask: Ask) -> set[Token]:
    tokens = key_tokens(ask.queue, ask.key)
    if ask.fresh:
        tokens |= freed_tokens(ask.queue, ask.key)
    if ask.serial is not None:
        tokens.add(ask.line)
    live = live_job(view, ask.queue, ask.key)
    if live is not None and live.scope is not None:
        tokens.add(judging(live.id))
    if live is not None and ask.caller is not None:
        tokens.add(("waiter", live.id, ask.caller))
    queue = view.queue(ask.queue)
    if ask.priority not in queue.priorities:
        tokens.add(queue.token)
    return tokens


def _element(ask: Ask, now: datetime, keys: DedupeKeys) -> dict[str, object]:
    given: dict[str, object] = {"operation": OPERATION}
    if ask.key is not None:
        given["dedupe_key"] = keys.get((ask.queue, ask.key), ask.key)
    if ask.serial is not None:
        given["serial_key"] = ask.serial
    if ask.priority:
        given["priority"] = ask.priority
    if ask.after is not None:
        given["available_at"] = (now + timedelta(seconds=ask.after)).isoformat()
    if ask.budget is not None:
        given["max_dequeues"] = ask.budget
    return given
