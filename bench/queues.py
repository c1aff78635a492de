"""What a queue must tell to be measured: its SQL, and how it is installed.

Statements are written for pgbench, where `:name` is a variable that is sent as a parameter; `named`
turns one into psycopg's. Variables of every script: `client_id`, `payload`, `result`, `batch`, and
`n`, which counts the client's transactions where the script does.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

PAYLOAD = (
    '{"customer": 48151, "report": "monthly", "month": "2024-02", "format": "pdf", "lang": "en"}'
)
"""What every job carries."""

RESULT = '{"pages": 12, "file": "report.pdf"}'
"""What every worker answers, where the queue keeps answers."""

BULK = 1000
"""Jobs in one bulk enqueue."""

KEY = "encode(sha256((:client_id || '/' || :n)::bytea), 'hex')"
"""A dedupe key as it comes from hashing a question."""


@dataclass(frozen=True)
class Queue:
    """One queue: the floor, the ledger in one of its settings, or a peer."""

    name: str
    install: Callable[[str], None]
    """Makes it in the empty database at this address."""
    enqueue: str
    """One job with `:payload`."""
    enqueue_keyed: str
    """The same with a dedupe key, where the queue has such a thing."""
    bulk_arguments: str
    """A SELECT of one row, whose columns `bulk` takes: BULK jobs, as a client would send them."""
    bulk: str
    claim: str
    """One job: a row with `id`, `payload` and whatever else a worker needs, or no row."""
    complete: str
    """Ends the claimed job, by the columns of `claim`."""
    claim_batch: str | None
    """Up to `{n}` jobs in one row: the array `ids`, the payloads, the rest. None: not possible."""
    complete_batch: str | None
    fill: str
    """Enqueues `%(n)s` jobs, with dedupe keys where `%(keyed)s`; not timed."""
    left: str
    """How many jobs are not done."""
    channel: str
    """What a worker listens on."""
    greet: str = ""
    """What a worker says before it first sleeps, so that it is woken."""
    enqueue_telling: str = ""
    """What wakes it, where `enqueue` does not."""

    def drain(self) -> str:
        """The script of a worker that takes one job at a time, each statement its own commit."""
        return f"\\set id 0\n{self.claim} \\aset\n\\if :id\n{self.complete};\n\\endif\n"

    def drain_batch(self, n: int) -> str:
        """The script of a worker that takes `n` jobs at a time."""
        claim = str(self.claim_batch).replace("{n}", str(n))
        return f"{claim} \\gset\n{self.complete_batch};\n"

    def enqueue_bulk(self) -> str:
        """The script of a client that enqueues BULK jobs at a time; what it sends is made once."""
        made = f"\\if :n\n\\else\n\\set n 1\n{self.bulk_arguments} \\gset\n\\endif\n"
        return f"{made}{self.bulk};\n"


def named(statement: str) -> str:
    """A statement with psycopg's named parameters in place of pgbench's."""
    return re.sub(r"(?<![:\w]):([a-z_]+)", r"%(\1)s", statement.replace("%", "%%"))
