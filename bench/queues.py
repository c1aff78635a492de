"""What a queue must tell to be measured: its SQL, and how it is installed.

Every statement is written for pgbench: `:name` is a variable of the script, sent as a parameter.
Rows come back to the client with all that a worker needs, the payload included.
"""

from collections.abc import Callable
from dataclasses import dataclass

# The variables of every script, beside pgbench's own.

PAYLOAD = (
    '{"customer": 48151, "report": "monthly", "month": "2024-02", "format": "pdf", "lang": "en"}'
)
"""What every job carries."""

RESULT = '{"pages": 12, "file": "report.pdf"}'
"""What every worker answers, where the queue keeps answers."""

BULK = 1000
"""Jobs in one bulk enqueue."""

KEY = "encode(sha256((:client_id || '/' || :n)::bytea), 'hex')"
"""A dedupe key as it comes from hashing a question; `:n` counts the client's transactions."""


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
    bulk_argument: str
    """A SELECT whose one value `bulk` takes as `:jobs`: BULK jobs, as a client would send them."""
    bulk: str
    claim: str
    """One job; a row with its `id`, or none."""
    complete: str
    """Ends the claimed job: `:id` and whatever else the row of `claim` had."""
    claim_batch: str
    """Up to `{n}` jobs in one row, with the array `ids`."""
    complete_batch: str
    fill: str
    """Enqueues `%(n)s` jobs, with dedupe keys where `%(keyed)s`; not timed, sent by psycopg."""
    left: str
    """How many jobs are not done."""

    def drain(self) -> str:
        """The script of a worker that takes one job at a time, each statement its own commit."""
        return f"\\set id 0\n{self.claim} \\aset\n\\if :id\n{self.complete};\n\\endif\n"

    def drain_batch(self, n: int) -> str:
        """The script of a worker that takes `n` jobs at a time."""
        claim = self.claim_batch.replace("{n}", str(n))
        return f"{claim} \\gset\n{self.complete_batch};\n"

    def enqueue_bulk(self) -> str:
        """The script of a client that enqueues BULK jobs at a time; what it sends is made once."""
        made = f"\\if :n\n\\else\n\\set n 1\n{self.bulk_argument} \\gset\n\\endif\n"
        return f"{made}{self.bulk};\n"
