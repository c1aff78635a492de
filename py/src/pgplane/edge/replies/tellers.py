"""Tellers: what of one job has been told, and what is still to be."""

import asyncio
from collections.abc import Callable

from pgplane.edge.replies.pump import ReplyPump
from pgplane.edge.replies.replies import ending, progress, queued, running, timed_out
from pgplane.edge.replies.streams import EventStream, Streams, retry
from pgplane.edge.replies.waiters import Waiter
from pgplane.ledger.records import Job


class Teller:
    """Tells one job, until it has ended or so many seconds are over.

    Whose stream it is, and what becomes of that when the job has been told, is its owner's matter.
    """

    def __init__(self, pump: ReplyPump, waiter: Waiter, seconds: float) -> None:
        self._pump = pump
        self._waiter = waiter
        self._seconds = seconds
        self._told: tuple[str, int | None] | None = None
        self._progress: bytes | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._closed = False

    def begin(
        self,
        say: Callable[[bytes], None],
        end: Callable[[bytes], None],
        send_away: Callable[[], None],
        may_tell: Callable[[], bool] = lambda: True,
    ) -> None:
        """Tell the job as it stands, then what changes: by `say`, and the last event by `end`.

        Where `may_tell` says no, or the answer is still to be read, nothing is told until `again`.
        When the time is over then, the client is to ask again: `send_away`.
        """
        self._say = say
        self._end = end
        self._send_away = send_away
        self._may_tell = may_tell
        self._deadline = asyncio.get_running_loop().call_later(self._seconds, self._time_out)
        self._waiter.listen(self._tell)

    @property
    def unread(self) -> bool:
        """Whether the job has ended, and its answer is to be read before it can be told."""
        return not self._closed and self._waiter.job is None

    def again(self) -> bool:
        """Tell what was not to be told before, as it stands by now; False: it is read first."""
        if self._waiter.job is None:
            self._pump.resume(self._waiter)
            return False
        self._tell(self._waiter.job)
        return True

    def close(self) -> None:
        """Tell no more; a second call does nothing."""
        self._closed = True
        if self._deadline is not None:
            self._deadline.cancel()
        self._pump.detach(self._waiter)

    def _tell(self, job: Job) -> None:
        if self._closed:
            return
        if not self._may_tell():
            if self._waiter.ended:
                self._let_go()
            return
        if self._waiter.ended:
            frame = ending(job)
            self.close()
            self._waiter.forget()
            self._end(frame)
            return
        held = job.status in ("in_progress", "cancelling")
        news = (job.status, job.position)
        if news != self._told:
            if self._told is None or not held:
                self._say(queued(job))
            if held:
                self._say(running(job))
            self._told = news
        elif held and job.progress != self._progress:
            self._say(progress(job))
        self._progress = job.progress

    def _let_go(self) -> None:
        """An answer that cannot be told yet is not kept: it may be large, and can be read again."""
        self._pump.detach(self._waiter)
        self._waiter.forget()

    def _time_out(self) -> None:
        if self.unread:
            self._send_away()
            return
        self._end(timed_out(self._waiter.job_id, self._seconds))
        self._pump.detach(self._waiter)


def reply(
    pump: ReplyPump,
    streams: Streams,
    waiter: Waiter,
    seconds: float,
    on_close: Callable[[], None] = lambda: None,
) -> EventStream:
    """A stream that belongs to one teller, and ends with it; then `on_close` is called."""
    teller = Teller(pump, waiter, seconds)

    def close() -> None:
        teller.close()
        on_close()

    stream = streams.open(close)
    stream.push(retry())
    try:
        teller.begin(stream.push, stream.finish, stream.send_away)
        if teller.unread:
            teller.again()
    except BaseException:
        stream.close()
        raise
    return stream
