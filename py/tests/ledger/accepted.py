"""What is taken although it is among the bad values: each rule says why. All else is refused."""

from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """A value that is taken. `changes` False: and nothing changes by it."""

    why: str
    arguments: Collection[str]
    labels: Collection[str]
    functions: Collection[str] = ()
    changes: bool = True

    def covers(self, function: str, argument: str, label: str) -> bool:
        """Whether this is such a value; a rule without functions holds for all."""
        named = not self.functions or function in self.functions
        return named and argument in self.arguments and label in self.labels


_NO_SUCH = ("zero", "negative", "huge", "hugely negative")
_TEXTS = ("string", "empty", "too long", "infinite", "no such date")
_FREE_TEXTS = ("string", "infinite", "no such date")
_READING = (
    *("await_job", "await_jobs", "get_job", "get_results"),
    *("leave_job", "register_waiter", "register_waiters"),
)

ACCEPTED = [
    Rule(
        "an attempt that holds nothing is told so by the answer",
        ("p_job_id", "p_attempt", "p_job_ids[]", "p_attempts[]"),
        ("NULL", *_NO_SUCH),
        ("complete_job", "complete_jobs", "fail_job", "finish_cancel", "release_job"),
        changes=False,
    ),
    Rule(
        "so is a heartbeat, which notes the worker's presence all the same",
        ("p_job_ids[]", "p_attempts[]"),
        ("NULL", *_NO_SUCH),
        ("renew_leases",),
    ),
    Rule(
        "a reader sees nothing of a job that is not there",
        ("p_job_id", "p_job_ids[]"),
        ("NULL", *_NO_SUCH),
        _READING,
        changes=False,
    ),
    Rule(
        "a key that opens nothing shows nothing",
        ("p_scope_key", "p_scope_keys[]"),
        ("NULL", "empty", "too long", "unknown"),
        _READING,
        changes=False,
    ),
    Rule(
        "settling never fails on content",
        ("p_result", "p_results[]", "p_error", "p_errors[]"),
        ("NULL", "nested deep", "replaced NUL", "replaced half of a pair"),
    ),
    Rule("a cache, or blobs of another job, or none", ("p_caches[]", "p_blobs_of[]"), ("NULL",)),
    Rule("an empty file, and nothing more", ("p_data",), ("empty",), ("put_blob", "append_blob")),
    Rule("a file has a name or none", ("p_filename",), ("NULL",)),
    Rule("from the first byte on, and beyond the last", ("p_from",), ("zero", "huge")),
    Rule("none, a lot, all", ("p_max_bytes",), ("zero", "huge", "NULL"), changes=False),
    Rule("none, as many as there are, all", ("p_newest",), ("zero", "huge", "NULL"), ("health",)),
    Rule(
        "telemetry asks nobody whether it is so",
        ("p_job_id", "p_attempt", "p_version", "p_operation", "p_started_at"),
        ("huge", "long ago", "unknown"),
        ("record_run",),
    ),
    Rule(
        "a run may take nothing",
        ("p_queue_wait_ms", "p_wall_ms", "p_cpu_ms", "p_rss_bytes"),
        ("zero",),
        ("record_run",),
    ),
    Rule("or any memory", ("p_rss_bytes",), ("huge",), ("record_run",)),
    Rule(
        "an array of arrays is read as a flat one",
        (
            "p_job_ids",
            "p_attempts",
            "p_results",
            "p_errors",
            "p_caches",
            "p_scope_keys",
            "p_waiters",
            "p_blobs_of",
        ),
        ("of an array",),
    ),
    Rule("a name may be new", ("p_queue",), ("unknown",), ("create_queue",)),
    Rule("no limit", ("p_max_depth",), ("zero", "huge"), ("create_queue",)),
    Rule("at once", ("p_backoff", "p_backoff_cap", "p_retention"), ("zero",), ("create_queue",)),
    Rule("at once", ("p_blob_retention", "p_poison_retention"), ("zero",), ("create_queue",)),
    Rule("at once", ("p_retry_in", "p_spread"), ("zero",), ("fail_job", "retry_poison")),
    Rule("at once", ("p_available_at",), ("infinitely long ago", "long ago"), ("enqueue",)),
    Rule(
        "any operation: a worker knows it or not",
        ("p_operation",),
        ("unknown",),
        ("enqueue", "dedupe_key"),
    ),
    Rule(
        "no poison of that name",
        ("p_operation",),
        ("empty", "too long", "unknown"),
        ("retry_poison",),
        changes=False,
    ),
    Rule("lower is sooner", ("p_priority",), ("zero", "negative"), ("enqueue",)),
    Rule("any version", ("p_version",), ("huge",), ("enqueue", "dedupe_key")),
    Rule("as deep as it likes", ("p_params", "p_info"), ("nested deep",)),
    Rule("as deep as it likes", ("p_envelope",), ("nested deep",), ("enqueue",)),
    Rule("as PostgreSQL keeps it, it is small", ("p_info",), ("numbers of many digits",)),
    Rule("NULL is the default", ("p_fresh",), ("NULL",), ("submit_request",)),
    Rule("as far as one gets", ("p_done", "p_total"), ("zero", "huge"), ("report_progress",)),
    Rule("not known", ("p_total", "p_message"), ("NULL", "empty"), ("report_progress",)),
    Rule(
        "a hash is of anything",
        ("p_surface", "p_operation", "p_client", "p_actor", "p_scope_key"),
        ("too long", "unknown"),
        ("scope_key", "dedupe_key"),
    ),
    Rule(
        "a hash is of anything",
        ("p_params",),
        ("too large", "numbers of many digits"),
        ("dedupe_key",),
    ),
    Rule("a hash is of anything", ("p_scope",), ("array too large", "array nested deep")),
    Rule(
        "a branch is anything but nothing",
        ("p_scope[]",),
        (
            "boolean",
            "array",
            "object",
            "string",
            "too long",
            "infinite",
            "no such date",
            "zero",
            "negative",
            "fraction",
            "huge",
        ),
    ),
    Rule("a claim of the token, whatever it says", ("p_envelope.actor",), _TEXTS),
    Rule("a claim of the token", ("p_envelope.client",), ("too long", *_FREE_TEXTS)),
    Rule("a token may say more", ("p_envelope",), ("with one more",), ("submit_request",)),
    Rule("a newer worker may say more", ("p_operations",), ("with one more",)),
    Rule(
        "the default",
        (
            "p_operations.params",
            "p_operations.ttl_seconds",
            "p_operations.timeout_seconds",
            "p_operations.per_actor",
        ),
        ("left out",),
    ),
    Rule("never from a cache", ("p_operations.ttl_seconds",), ("zero",)),
    Rule("a name", ("p_operations.name",), ("string", "infinite")),
    Rule("a name", ("p_jobs.operation", "p_jobs.dedupe_key", "p_jobs.serial_key"), _FREE_TEXTS),
    Rule("lower is sooner", ("p_jobs.priority",), ("zero", "negative")),
    Rule(
        "the default",
        (
            "p_jobs.dedupe_key",
            "p_jobs.serial_key",
            "p_jobs.available_at",
            "p_jobs.max_dequeues",
            "p_jobs.version",
        ),
        ("left out", "JSON null"),
    ),
    Rule("the default", ("p_jobs.params", "p_jobs.envelope", "p_jobs.priority"), ("left out",)),
]
