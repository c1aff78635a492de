"""Gathering: one stream that tells many jobs of one caller."""

from collections.abc import Callable, Mapping
from functools import partial

from pgplane.edge.replies.pump import ReplyPump
from pgplane.edge.replies.replies import all_told, unknown
from pgplane.edge.replies.streams import EventStream, Streams, retry
from pgplane.edge.replies.tellers import Teller
from pgplane.edge.replies.waiters import Waiter

ROOM = 1024**2
"""Bytes that wait for the client, above which nothing more is told until it has taken them."""


class Gathering:
    """Tells each job by a teller of its own, with a deadline of its own, by one stream.

    It ends when each has been told its end. A client that takes its time is told as much as it
    takes, one large answer after the other, and then how the others stand by then.
    """

    def __init__(
        self,
        pump: ReplyPump,
        streams: Streams,
        waiters: Mapping[int, Waiter | None],
        seconds: float,
        on_close: Callable[[], None],
    ) -> None:
        """`waiters` by job id; None: the job is none of the caller's."""
        self._unknown = [job_id for job_id, waiter in waiters.items() if waiter is None]
        self._open = {
            job_id: Teller(pump, waiter, seconds)
            for job_id, waiter in waiters.items()
            if waiter is not None
        }
        self._put_off: dict[int, None] = {}
        self._on_close = on_close
        self.stream = streams.open(self._close)
        self.stream.on_taken = self._taken

    def begin(self) -> EventStream:
        """Tell how all of them stand, then what changes."""
        self.stream.push(retry())
        try:
            for job_id in self._unknown:
                self.stream.push(unknown(job_id))
            for job_id, teller in list(self._open.items()):
                teller.begin(
                    self.stream.push,
                    partial(self._told, job_id),
                    self.stream.send_away,
                    partial(self._may_tell, job_id),
                )
                if teller.unread:
                    self._put_off[job_id] = None
            self._taken()
            self._end_when_all_is_told()
        except BaseException:
            self.stream.close()
            raise
        return self.stream

    def _may_tell(self, job_id: int) -> bool:
        if self.stream.waiting <= ROOM:
            self._put_off.pop(job_id, None)
            return True
        self._put_off[job_id] = None
        return False

    def _told(self, job_id: int, frame: bytes) -> None:
        """The last event of one job."""
        self._put_off.pop(job_id, None)
        self._open.pop(job_id).close()
        self.stream.push(frame)
        self._end_when_all_is_told()

    def _taken(self) -> None:
        """There is room: for one answer of any size at least, which brings us here again."""
        while self._put_off and self.stream.waiting <= ROOM:
            job_id = next(iter(self._put_off))
            del self._put_off[job_id]
            if not self._open[job_id].again():
                return

    def _end_when_all_is_told(self) -> None:
        if not self._open:
            self.stream.finish(all_told())

    def _close(self) -> None:
        for teller in self._open.values():
            teller.close()
        self._open.clear()
        self._put_off.clear()
        self._on_close()
