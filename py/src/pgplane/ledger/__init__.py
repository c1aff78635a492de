"""The ledger: every statement for the queue database, each a call of one stored function.

Arguments and results that are JSON travel as text (`str` in, `bytes` out): nothing is parsed on
the way. Every function raises `pgplane.errors.LedgerError` or one of its kinds. Connections come
from `pgplane.session`, in autocommit: a call is its own transaction.
"""

from pgplane.ledger.jobs import (
    claim,
    claim_one,
    complete_job,
    complete_jobs,
    enqueue,
    enqueue_many,
    fail_job,
    finish_cancel,
    release_job,
    renew_leases,
    report_progress,
    request_cancel,
    retry_job,
    retry_poison,
)
from pgplane.ledger.queues import (
    create_queue,
    drop_queue,
    pause_queue,
    register_manifest,
    register_worker,
    resume_queue,
)
from pgplane.ledger.requests import (
    await_job,
    get_job,
    get_results,
    register_waiter,
    scope_key,
    submit_request,
    ticket_key,
)
from pgplane.ledger.upkeep import maintain, reap_blobs, sweep

__all__ = [
    "await_job",
    "claim",
    "claim_one",
    "complete_job",
    "complete_jobs",
    "create_queue",
    "drop_queue",
    "enqueue",
    "enqueue_many",
    "fail_job",
    "finish_cancel",
    "get_job",
    "get_results",
    "maintain",
    "pause_queue",
    "reap_blobs",
    "register_manifest",
    "register_waiter",
    "register_worker",
    "release_job",
    "renew_leases",
    "report_progress",
    "request_cancel",
    "resume_queue",
    "retry_job",
    "retry_poison",
    "scope_key",
    "submit_request",
    "sweep",
    "ticket_key",
]
