"""The ledger: every statement for the queue database, each a call of one stored function.

Arguments and results that are JSON travel as text (`str` in, `bytes` out): nothing is parsed on
the way. Every function raises `pgplane.errors.LedgerError` or one of its kinds. Connections come
from `pgplane.session`, in autocommit: a call is its own transaction.
"""

from pgplane.ledger.blobs import append_blob, blob_info, put_blob, read_blob
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
    get_manifest,
    pause_queue,
    register_manifest,
    register_worker,
    resume_queue,
)
from pgplane.ledger.requests import (
    await_job,
    await_jobs,
    get_job,
    get_results,
    leave_job,
    register_waiter,
    register_waiters,
    scope_key,
    submit_request,
    ticket_key,
)
from pgplane.ledger.runs import record_run
from pgplane.ledger.upkeep import maintain, reap_blobs, sweep

__all__ = [
    "append_blob",
    "await_job",
    "await_jobs",
    "blob_info",
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
    "get_manifest",
    "get_results",
    "leave_job",
    "maintain",
    "pause_queue",
    "put_blob",
    "read_blob",
    "reap_blobs",
    "record_run",
    "register_manifest",
    "register_waiter",
    "register_waiters",
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
