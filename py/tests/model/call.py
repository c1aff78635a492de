"""One call of a function: its SQL, whom it may wait for, and what it must answer and do."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ..support.sessions import Row
from .sight import Sight
from .world import Queue, Token, View


class Call:
    """A call; what it says of the world, it says of the session's view when the call ended."""

    sql = ""
    params: tuple[Any, ...] = ()
    waits = True
    """It may wait for another session at all."""

    began: int | None = None
    """When it came to wait, in the order of events, if it did."""
    read: Mapping[str, Queue] = MappingProxyType({})
    """The queues as it had read them by then."""

    def came_to_wait(self, view: View) -> None:
        """It waits from now on, in this view."""
        self.began = view.tick()
        self.read = {queue.name: queue for queue in view.queues()}

    def queue_row(self, view: View, name: str) -> Queue:
        """The queue as the call has read it: before it waited, if it did."""
        return self.read.get(name) or view.queue(name)

    def waits_on(self, view: View) -> set[Token]:
        """What another session must hold for this call to wait for it."""
        return set()

    def refusal(self, view: View) -> str | None:
        """The SQLSTATE with which it is refused, if it is."""
        return None

    def answered(self, view: View, rows: list[Row], seen: Sight) -> None:
        """Check the answer and do the same in the view. `seen` is how it looks afterwards."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self.params}"


def key_tokens(queue: str, key: str | None) -> set[Token]:
    """A key that somebody is taking."""
    return set() if key is None else {("key", queue, key)}


def freed_tokens(queue: str, key: str | None) -> set[Token]:
    """A key that somebody is giving up."""
    return set() if key is None else {("freed", queue, key)}


def job_tokens(job_id: int) -> set[Token]:
    """A job that somebody is changing, or whose attempt somebody holds as it is."""
    return {("job", job_id), ("share", job_id)}
