"""A connection to a ledger that says what the test wrote down."""

from collections import deque
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any, Concatenate, ParamSpec, TypeVar

from pgplane.ledger.records import Claim
from pgplane.session import Connection
from pgplane.worker.connection import WarmConnection

A = ParamSpec("A")
R = TypeVar("R")


class ScriptedConnection(WarmConnection):
    """Answers each call with the next answer written down for that function; errors are raised."""

    def __init__(self, **answers: list[Any]) -> None:
        super().__init__("", application_name="scripted")
        self._answers = {name: deque(values) for name, values in answers.items()}
        self.calls: list[tuple[str, tuple[Any, ...]]] = []
        self._named: list[tuple[str, dict[str, Any]]] = []

    async def call(
        self,
        function: Callable[Concatenate[Connection, A], Awaitable[R]],
        *args: A.args,
        **kwargs: A.kwargs,
    ) -> R:
        name = function.__name__
        self.calls.append((name, args))
        self._named.append((name, kwargs))
        answer = self._answers[name].popleft()
        if isinstance(answer, Exception):
            raise answer
        scripted: R = answer
        return scripted

    def called(self, name: str) -> list[tuple[Any, ...]]:
        """The arguments of each call of one function."""
        return [args for called, args in self.calls if called == name]

    def named(self, name: str) -> list[dict[str, Any]]:
        """The named arguments of each call of one function."""
        return [named for called, named in self._named if called == name]


def a_claim(job_id: int = 1, attempt: int = 1) -> Claim:
    """A claim of which only the fence matters."""
    now = datetime.now(UTC)
    return Claim(
        job_id=job_id,
        attempt=attempt,
        queue="q",
        operation="o",
        version=1,
        params=b"{}",
        envelope=b"{}",
        dedupe_key=None,
        serial_key=None,
        max_dequeues=5,
        lease_expires_at=now,
        created_at=now,
        cache_key=None,
        fresh=False,
    )
