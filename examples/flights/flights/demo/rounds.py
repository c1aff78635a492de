"""The rounds of the demo: one by one, many at once, and over and over for the timing table."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from flights.demo.asking import Asker, Params, Reply
from flights.demo.board import board
from flights.demo.checking import Checker, answer_fault, refusal_fault
from flights.demo.exports import right_csv, right_report
from flights.demo.identity import People, Person
from flights.demo.questions import (
    AIRLINES,
    DELAYS_BY_CARRIER,
    FLIGHT,
    MOST_FLIGHTS,
    Question,
    Refused,
    questions,
)
from flights.demo.terminal import Terminal

CALLERS = 20
LIGHT = 150
HEAVY = 12
CACHED = 50

Progress = Callable[[float], None]


@dataclass
class Rounds:
    """Asks, checks and tells.

    Attributes:
        asker: asks the edge.
        checker: knows what is right.
        people: who asks.
        terminal: where it is told.
        faults: every answer that did not come or was wrong, in words.
    """

    asker: Asker
    checker: Checker
    people: People
    terminal: Terminal
    faults: list[str]

    async def one_by_one(self) -> None:
        """Every operation, every person, every kind of refusal."""
        for question in questions(self.people):
            reply = await self.asker.ask(question.who, question.operation, question.params)
            fault = await self.checker.fault(question, reply)
            self._tell(question, reply, fault)

    async def board(self) -> None:
        """Eight panels of the page, asked at the same moment."""
        panels = list(board(self.people))
        replies = await asyncio.gather(
            *(self.asker.ask(panel.who, panel.operation, panel.params) for panel in panels)
        )
        for panel, reply in zip(panels, replies, strict=True):
            self._tell(panel, reply, await self.checker.fault(panel, reply))

    async def exports(self) -> None:
        """Files through the edge, the same to the last byte as those made straight away."""
        ada, _ben, cleo, dana, _eve = self.people.everybody()
        for who in (ada, cleo):
            await self._export(who, "flights_csv", {}, right_csv, "{rows:,} flights")
        for who in (ada, cleo):
            await self._export(who, "month_report", {"month": 7}, right_report, "{pages} page")
        reply = await self.asker.ask(ada, "month_report", {"month": 1})
        reference = (reply.result or {}).get("file", {"blobRef": {"blob": 1}})
        statuses = [
            (await self.asker.file_of(who, reply.job_id, reference)).status_code
            for who in (ada, dana)
        ]
        self._judge(
            f"a report, fetched by who asked for it: {statuses[0]}, by the other client: "
            f"{statuses[1]}",
            None if statuses == [200, 404] else "200 and 404 were due",
        )

    async def _export(
        self,
        who: Person,
        operation: str,
        params: Params,
        right: Callable[[Checker, Person], Awaitable[bytes]],
        words: str,
    ) -> None:
        reply = await self.asker.ask(who, operation, params)
        if reply.result is None:
            self._judge(f"{who.name:<5}{operation}", f"refused: {reply.problem}")
            return
        began = time.time()
        file = (await self.asker.file_of(who, reply.job_id, reply.result["file"])).content
        took = reply.seconds + time.time() - began
        asked = " ".join(map(str, params.values())) or "all"
        self._judge(
            f"{_title(who, operation, asked)}{took * 1000:6.0f} ms  {words.format(**reply.result)},"
            f" {len(file) / 1000:,.0f} kB",
            None if file == await right(self.checker, who) else "these are not the right bytes",
        )

    async def together(self) -> None:
        """One question from many callers at the same moment, and from a stranger."""
        ada, ben, _cleo, dana, _eve = self.people.everybody()
        params = {"from": "2013-01-02"}
        crowd = [ada, ben] * (CALLERS // 2)
        replies = await asyncio.gather(
            *(self.asker.ask(who, "delays_by_carrier", params) for who in [*crowd, dana])
        )
        right = await self.checker.rows(
            DELAYS_BY_CARRIER + " where date >= '2013-01-02'" + MOST_FLIGHTS
        )
        faults = [answer_fault(right, reply) for reply in replies]
        theirs, dana_job = {reply.job_id for reply in replies[:-1]}, replies[-1].job_id
        self._judge(
            f"{CALLERS} callers of one client ask the same: jobs run: {len(theirs)}",
            next(filter(None, faults), None)
            or (None if len(theirs) <= CALLERS // 4 else "they were not coalesced"),
        )
        self._judge(
            "another client asks the same: a job of its own",
            "it shared a job" if dana_job in theirs else None,
        )
        statuses = [await self.asker.status_of(who, replies[0].job_id) for who in (ben, dana)]
        self._judge(
            f"the first job, looked up by a colleague: {statuses[0]}, by the other client: "
            f"{statuses[1]}",
            None if statuses == [200, 404] else "200 and 404 were due",
        )

    async def stranger(self, forged: Person) -> None:
        """A token that somebody else signed opens nothing."""
        reply = await self.asker.ask(forged, "airlines", {})
        self._judge(
            f"a token signed by a stranger: {reply.status}",
            refusal_fault(Refused(401, "TOKEN_INVALID"), reply),
        )

    async def light(self, at: Progress) -> list[Reply]:
        """Drill-downs into single flights, one after another: the worker is idle before each."""
        flights = await self.checker.rows(
            "select carrier, flight, date from nyc.flights"
            " where date < '2013-12-31' group by 1, 2, 3 having count(*) = 1"
            " order by md5(carrier || flight || date) limit %(limit)s",
            {"limit": LIGHT},
        )
        right = (
            "flight",
            FLIGHT
            + (" where f.carrier = %(carrier)s and f.flight = %(flight)s and f.date = %(date)s"),
        )
        return await self._series(right, flights, at)

    async def heavy(self, at: Progress) -> list[Reply]:
        """Aggregations over most of the year, no two the same."""
        periods = [{"from": f"2013-01-{day:02}"} for day in range(3, 3 + HEAVY)]
        right = "delays_by_carrier", DELAYS_BY_CARRIER + " where date >= %(from)s" + MOST_FLIGHTS
        return await self._series(right, periods, at)

    async def cached(self, at: Progress) -> list[Reply]:
        """The same list again and again."""
        replies = await self._series(("airlines", AIRLINES), [{}] * CACHED, at)
        missed = sum(reply.cache != "hit" for reply in replies)
        if missed:
            self.faults.append(f"airlines: {missed} of {CACHED} answers were not from the cache")
        return [reply for reply in replies if reply.cache == "hit"]

    async def _series(
        self, right: tuple[str, Any], asked: Sequence[Params], at: Progress
    ) -> list[Reply]:
        """Ask first, all of it, and check afterwards: the checks must not disturb the timing."""
        operation, sql = right
        replies = []
        for number, params in enumerate(asked, start=1):
            replies.append(await self.asker.ask(self.people.ada, operation, params))
            at(number / len(asked))
        for params, reply in zip(asked, replies, strict=True):
            fault = answer_fault(await self.checker.rows(sql, params), reply)
            if fault:
                self.faults.append(f"{operation} {params}: {fault}")
        return [reply for reply in replies if reply.rows is not None]

    def _tell(self, question: Question, reply: Reply, fault: str | None) -> None:
        asked = " ".join(str(value) for value in question.params.values()) or "all"
        title = _title(question.who, question.operation, asked)
        self._judge(f"{title}{reply.seconds * 1000:6.0f} ms  {_answer(question, reply)}", fault)

    def _judge(self, text: str, fault: str | None) -> None:
        self.terminal.line(f"  {'✗' if fault else '✓'} {text}")
        if fault:
            self.terminal.line(f"      {fault}")
            self.faults.append(f"{' '.join(text.split())}: {fault}")


def _title(who: Person, operation: str, asked: str) -> str:
    return f"{who.name:<5}{operation:<20}{asked:<27}"


def _answer(question: Question, reply: Reply) -> str:
    if reply.problem is not None:
        errors = reply.problem.get("errors") or [{"message": reply.problem.get("detail", "")}]
        detail = errors[0]["message"]
        return f"{reply.problem.get('status')} {reply.problem.get('code')}: {detail}"
    if isinstance(question.expects, Refused) or not reply.rows:
        return f"{len(reply.rows or [])} rows"
    return question.expects.shown(reply.rows)
