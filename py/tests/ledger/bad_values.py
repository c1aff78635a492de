"""What no argument should be given, by its type and its name; members of JSON likewise.

Values are SQL, members of JSON are Python's. What suits an argument after all is in `accepted`.
"""

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
    "bytea": {
        "NULL": "null",
        "empty": "''",
        "too large": "decode(repeat('00', 1048577), 'hex')",
    },
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
    "double precision": {
        "NULL": "null",
        "zero": "0",
        "negative": "-1",
        "huge": "1e300",
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
    "p_content_type": {"unknown": "'csv'", "with a newline": r"E'text/csv\na: b'"},
    "p_filename": {"in a folder": "'../passwd'", "with a newline": r"E'a\n'"},
    "p_outcome": {"unknown": "'fine'"},
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
