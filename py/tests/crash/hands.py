"""A client of the ledger in a process of its own: `python -m tests.crash.hands URL producer SEED`.

It says on standard output what the server has acknowledged, a JSON line each, and nothing else. So
what a client that was killed had been told is known, and what it had not been told is open. When
its connection breaks it makes a new one; any other error ends it. SIGTERM ends it in good order.
"""

import json
import random
import signal
import sys
from collections.abc import Callable
from itertools import count
from typing import Any

import psycopg

Connection = psycopg.Connection[tuple[Any, ...]]

QUEUE = "mail"
CLAIM = "select job_id, attempt from plane.claim(%s, %s, %s)"


class Hands:
    """A client that goes on calling."""

    def __init__(self, url: str, name: str, seed: int) -> None:
        self.url, self.name = url, name
        self.random = random.Random(seed)
        self.numbers = count(1)
        self.stopping = False
        signal.signal(signal.SIGTERM, self._stop)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})

    def run(self, *deeds: Callable[[Connection], None]) -> None:
        """One deed after the other, until told to stop."""
        while not self.stopping:
            try:
                with psycopg.connect(self.url, autocommit=True) as connection:
                    while not self.stopping:
                        try:
                            self.random.choice(deeds)(connection)
                        except psycopg.OperationalError:
                            if not connection.closed:
                                raise
                            break
            except psycopg.OperationalError as error:
                # with a SQLSTATE it is the ledger's word, unless the server is on its way
                if error.sqlstate not in (None, "57P03", "57P01"):
                    raise

    def say(self, **told: object) -> None:
        print(json.dumps(told), flush=True)  # noqa: T201

    def token(self) -> str:
        return f"{self.name}-{next(self.numbers)}"

    def _stop(self, *_: object) -> None:
        self.stopping = True


class Producer(Hands):
    """Enqueues in every way there is; each job carries a token of its own."""

    def one(
        self, connection: Connection, key: str | None = None, line: str | None = None
    ) -> dict[str, Any]:
        """Enqueue; what is to be said of it, once it is committed."""
        token = self.token()
        ((job_id, coalesced),) = connection.execute(
            "select job_id, coalesced from plane.enqueue(%s, 'send', jsonb_build_object('token',"
            " %s::text), p_dedupe_key => %s, p_serial_key => %s)",
            (QUEUE, token, key, line),
        ).fetchall()
        return {"enqueued": job_id, "token": None if coalesced else token}

    def plain(self, connection: Connection) -> None:
        self.say(**self.one(connection))

    def keyed(self, connection: Connection) -> None:
        self.say(**self.one(connection, key=f"key {self.random.randrange(20)}"))

    def in_line(self, connection: Connection) -> None:
        self.say(**self.one(connection, line=f"line {self.random.randrange(5)}"))

    def batch(self, connection: Connection) -> None:
        tokens = [self.token() for _ in range(20)]
        jobs = [{"operation": "send", "params": {"token": token}} for token in tokens]
        rows = connection.execute(
            "select job_id from plane.enqueue_many(%s, %s::jsonb)", (QUEUE, json.dumps(jobs))
        ).fetchall()
        for token, (job_id,) in zip(tokens, rows, strict=True):
            self.say(enqueued=job_id, token=token)

    def in_a_transaction(self, connection: Connection) -> None:
        with connection.transaction():
            told = [self.one(connection), self.one(connection, line="line 0")]
        for each in told:
            self.say(**each)

    def in_vain(self, connection: Connection) -> None:
        with connection.transaction(force_rollback=True):
            told = self.one(connection, key=f"key {self.random.randrange(20)}")
        if told["token"] is not None:
            self.say(rolled_back=told["token"])


class Worker(Hands):
    """Claims and mostly completes."""

    def work(self, connection: Connection) -> None:
        for job_id, attempt in connection.execute(CLAIM, (QUEUE, self.name, 2)).fetchall():
            fate = self.random.random()
            if fate < 0.8:
                self._complete(connection, job_id, attempt)
            elif fate < 0.9:
                connection.execute(
                    "select plane.fail_job(%s, %s, '{}', p_retry_in => '0 s')", (job_id, attempt)
                )
            elif fate < 0.95:
                connection.execute("select plane.release_job(%s, %s)", (job_id, attempt))

    def work_in_bulk(self, connection: Connection) -> None:
        held = connection.execute(CLAIM, (QUEUE, self.name, 20)).fetchall()
        if not held:
            return
        by = self.token()
        ids, attempts = [row[0] for row in held], [row[1] for row in held]
        rows = connection.execute(
            "select completed from plane.complete_jobs(%s::bigint[], %s::int[], %s::json[])",
            (ids, attempts, [json.dumps({"by": by})] * len(held)),
        ).fetchall()
        for (job_id, attempt), (completed,) in zip(held, rows, strict=True):
            if completed:
                self.say(completed=job_id, attempt=attempt, by=by)

    def _complete(self, connection: Connection, job_id: int, attempt: int) -> None:
        by = self.token()
        ((completed,),) = connection.execute(
            "select plane.complete_job(%s, %s, p_result => %s::json)",
            (job_id, attempt, json.dumps({"by": by})),
        ).fetchall()
        if completed:
            self.say(completed=job_id, attempt=attempt, by=by)


def main(url: str, role: str, seed: str) -> None:
    if role == "producer":
        hands = Producer(url, f"p{seed}", int(seed))
        hands.run(
            hands.plain, hands.keyed, hands.in_line, hands.batch, hands.in_a_transaction,
            hands.in_vain,
        )  # fmt: skip
    else:
        worker = Worker(url, f"w{seed}", int(seed))
        worker.run(worker.work, worker.work, worker.work_in_bulk)


if __name__ == "__main__":
    main(*sys.argv[1:])
