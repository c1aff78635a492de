"""A session that is told, by auto_explain, which plans its statements got and what they touched."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import psycopg

Plan = dict[str, Any]
"""A node of a plan, as EXPLAIN writes it in JSON."""

HOT = {
    *("attempt", "due", "job", "lease", "line", "live_key", "outcome", "progress", "ready"),
    *("stalled_line", "waiter", "waiting", "worker", "blob", "blob_chunk", "blob_share"),
}
"""Tables that are full at one moment or another, whatever their statistics say."""


@dataclass(frozen=True)
class Statement:
    """A statement that ran: its text and its plan."""

    text: str
    plan: Plan
    has_jit: bool


@dataclass(frozen=True)
class Told:
    """A call: its rows, the pages it touched in all, and every statement within it."""

    rows: list[tuple[Any, ...]]
    pages: int
    statements: list[Statement]


class Explaining:
    """A connection in autocommit; calls are of functions of schema plane.

    `nested` False: only the pages of each call are told, not the statements within.
    """

    def __init__(self, url: str, *, nested: bool = True) -> None:
        self.connection = psycopg.connect(url, autocommit=True)
        self._notices: list[str] = []
        self.connection.add_notice_handler(
            lambda notice: self._notices.append(notice.message_primary or "")
        )
        self.connection.execute("load 'auto_explain'")
        for setting in (
            *("log_min_duration = 0", "log_analyze = on", "log_buffers = on", "log_timing = off"),
            *("log_format = json", "log_level = notice", f"log_nested_statements = {nested}"),
        ):
            self.connection.execute(f"set auto_explain.{setting}")

    def call(self, sql: str, *params: Any) -> Told:
        """Call a function: `call("claim_one('mail', 'w')")`."""
        self._notices.clear()
        rows = self.connection.execute(f"select * from plane.{sql}", params or None).fetchall()
        told = [json.loads(text.partition("plan:\n")[2]) for text in self._notices]
        # the last one is the call itself, in whose pages all others are counted
        whole = told[-1]["Plan"]
        return Told(
            rows,
            whole["Shared Hit Blocks"] + whole["Shared Read Blocks"],
            [Statement(of["Query Text"], of["Plan"], "JIT" in of) for of in told],
        )

    def close(self) -> None:
        """End the session."""
        self.connection.close()


def nodes(plan: Plan) -> Iterator[Plan]:
    """A node and all below it."""
    yield plan
    for below in plan.get("Plans", []):
        yield from nodes(below)


def faults(statement: Statement) -> Iterator[str]:
    """What no plan of a hot statement may have, whatever the statistics say."""
    if statement.has_jit:
        yield "JIT"
    for node in nodes(statement.plan):
        kind = node["Node Type"]
        if kind in ("Hash Join", "Merge Join"):
            for table in {_table(below) for below in _flows_into(node)} & HOT:
                yield f"{kind} of {table}"
        if kind in ("Seq Scan", "Bitmap Heap Scan") and _table(node) in HOT:
            yield f"{kind} on {_table(node)}"
        if (
            kind in ("Index Scan", "Index Only Scan")
            and _table(node) in HOT
            and "Index Cond" not in node
        ):
            yield f"{kind} of the whole of {_table(node)}"
        if kind in ("Sort", "Incremental Sort"):
            for table in {_table(below) for below in _flows_into(node)} & HOT:
                yield f"{kind} of {table}"


def _flows_into(plan: Plan) -> Iterator[Plan]:
    """What flows into a node; what is looked up row by row is as bounded as those rows are."""
    for below in plan.get("Plans", []):
        looked_up = plan["Node Type"] == "Nested Loop" and below["Parent Relationship"] == "Inner"
        if (
            below["Parent Relationship"] in ("Outer", "Inner", "Member", "Subquery")
            and not looked_up
        ):
            yield below
            yield from _flows_into(below)


def _table(node: Plan) -> str:
    """The table that a node scans, without the number of its partition."""
    return re.sub(r"_\d+$", "", node.get("Relation Name", ""))
