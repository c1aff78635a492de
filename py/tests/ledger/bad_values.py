"""What no argument should be given, by its type and its name, and what is taken all the same.

Values are SQL, members of JSON are Python's. Where a value suits an argument after all, a rule of
`ACCEPTED` says why; every other one is to be refused.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

LONG = 1001
"""Characters: more than any name, key or message may have."""

NESTED = "repeat('[', 6000) || repeat(']', 6000)"
"""As deep as arrays of JSON are still read everywhere."""

REFUSED_BY_POSTGRESQL = {"NUL", "half a surrogate pair"}
"""What no jsonb can be made of: the call does not get as far as the function."""

BY_TYPE: dict[str, dict[str, str]] = {
    "text": {"NULL": "null", "empty": "''", "too long": f"repeat('x', {LONG})"},
    "boolean": {"NULL": "null"},
    "bytea": {"NULL": "null", "empty": "''"},
    "integer": {
        "NULL": "null",
        "zero": "0",
        "negative": "-1",
        "huge": "2147483647",
        "hugely negative": "-2147483648",
    },
    "bigint": {
        "NULL": "null",
        "zero": "0",
        "negative": "-1",
        "huge": "9223372036854775807",
        "hugely negative": "-9223372036854775808",
    },
    "numeric": {
        "NULL": "null",
        "zero": "0",
        "negative": "-1",
        "huge": "1e100000",
        "not a number": "'NaN'",
        "infinite": "'Infinity'",
    },
    "interval": {
        "NULL": "null",
        "zero": "'0'",
        "negative": "'-1 second'",
        "huge": "'170000000 years'",
        "hugely negative": "'-170000000 years'",
    },
    "timestamp with time zone": {
        "NULL": "null",
        "infinite": "'infinity'",
        "infinitely long ago": "'-infinity'",
        "huge": "'294276-12-31 00:00+00'",
        "long ago": "'4713-01-01 00:00+00 BC'",
    },
    "json": {
        "NULL": "null",
        "nested deep": NESTED,
        "too large": "to_json(repeat('x', 1048577))",
        "replaced NUL": r"""'"\u0000"'""",
        "replaced half of a pair": r"""'"\ud800"'""",
    },
    "jsonb": {
        "NULL": "null",
        "JSON null": "'null'",
        "number": "'1'",
        "boolean": "'true'",
        "string": """'"x"'""",
        "array": "'[]'",
        "object": "'{}'",
        "nested deep": f"""'{{"a": ' || {NESTED} || '}}'""",
        "array nested deep": NESTED,
        "too large": "jsonb_build_object('a', repeat('x', 1048577))",
        "array too large": "jsonb_build_array(repeat('x', 1048577))",
        "numbers of many digits": """'{"a": [1e131000, 1e131000, 1e131000, 1e131000, 1e131000,
            1e131000, 1e131000, 1e131000, 1e131000]}'""",
        "NUL": r"""'{"a": "\u0000"}'""",
        "half a surrogate pair": r"""'{"a": "\ud800"}'""",
    },
}

BY_TYPE_FROM: dict[int, dict[str, dict[str, str]]] = {
    170000: {"interval": {"infinite": "'infinity'", "infinitely negative": "'-infinity'"}},
}
"""The same, from a version of PostgreSQL on."""


def by_type(name: str, server_version: int) -> dict[str, str]:
    """The bad values of a type on a server of that version (170004, say)."""
    newer = (types for since, types in BY_TYPE_FROM.items() if server_version >= since)
    return {**BY_TYPE[name], **{k: v for types in newer for k, v in types.get(name, {}).items()}}


BY_NAME: dict[str, dict[str, str]] = {
    "p_queue": {
        "unknown": "'nowhere'",
        "not a name": "'We Ird'",
        "in upper case": "'MAIL'",
        "with a newline": r"E'mail\n'",
        "with a hyphen first": "'-mail'",
    },
    "p_operation": {"unknown": "'nothing'"},
    "p_scope_key": {"unknown": "'nobody'"},
    "p_cache": {"unknown": "'maybe'"},
    "p_notify": {"unknown": "'sometimes'"},
}

MEMBERS: dict[str, Any] = {
    "JSON null": None,
    "boolean": True,
    "array": [],
    "object": {},
    "string": "x",
    "empty": "",
    "too long": "x" * LONG,
    "infinite": "infinity",
    "no such date": "2030-02-30",
    "zero": 0,
    "negative": -1,
    "fraction": 1.5,
    "huge": 10**30,
}

FREE = {
    "p_params",
    "p_info",
    "p_result",
    "p_error",
    "enqueue p_envelope",
    "p_jobs.params",
    "p_jobs.envelope",
}
"""JSON whose members are the caller's own."""


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
_READING = ("await_job", "get_job", "get_results", "register_waiter")

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
    Rule("a cache is named or not", ("p_caches[]",), ("NULL",)),
    Rule(
        "an array of arrays is read as a flat one",
        ("p_job_ids", "p_attempts", "p_results", "p_errors", "p_caches", "p_scope_keys"),
        ("of an array",),
    ),
    Rule("a name may be new", ("p_queue",), ("unknown",), ("create_queue",)),
    Rule("no limit", ("p_max_depth",), ("zero", "huge"), ("create_queue",)),
    Rule("at once", ("p_backoff", "p_backoff_cap", "p_retention"), ("zero",), ("create_queue",)),
    Rule("at once", ("p_retry_in", "p_spread"), ("zero",), ("fail_job", "retry_poison")),
    Rule("at once", ("p_available_at",), ("infinitely long ago", "long ago"), ("enqueue",)),
    Rule("in its time", ("p_available_at",), ("huge",), ("enqueue",)),
    Rule("who no longer waits", ("p_deadline",), ("infinitely long ago", "long ago")),
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
