"""The checker: a process that compiles schemas and checks params, and is no loss when it dies.

What is asked for may take for ever, and the library holds Python's lock meanwhile: only another
process does not hold up the edge. Each request has so much processor time and the process so much
memory; the kernel ends what takes more. A request and its answer are a line of JSON each.
"""

import json
import resource
import signal
import sys
from collections import OrderedDict
from contextlib import suppress
from hashlib import sha256
from typing import Any

from pgplane.edge.checking.params import ParamsSchema

CPU_SECONDS = 0.5
MEMORY = 512 * 1024**2
MAX_SCHEMAS = 500
MAX_TEXT = 2000
"""Characters of a field or a message that are told."""

_schemas: OrderedDict[str, ParamsSchema] = OrderedDict()


def key_of(schema: bytes) -> str:
    """What a schema is called, once it was sent."""
    return sha256(schema).hexdigest()


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """`{schema, text, params}` → `{known, reason, wrong}`; without a text the schema is one that
    was sent before, and `known` says whether it is still at hand."""
    key, text = request["schema"], request["text"]
    if text is not None:
        _schemas[key] = ParamsSchema(text.encode())
        if len(_schemas) > MAX_SCHEMAS:
            _schemas.popitem(last=False)
    schema = _schemas.get(key)
    if schema is None:
        return {"known": False, "reason": None, "wrong": []}
    _schemas.move_to_end(key)
    wrong = [[_told(one.field), _told(one.message)] for one in schema.faults(request["params"])]
    return {"known": True, "reason": schema.reason, "wrong": wrong}


def _told(text: str) -> str:
    return text[:MAX_TEXT].encode(errors="replace").decode()


def main() -> None:
    """Answer until nobody asks any more."""
    with suppress(OSError, ValueError):  # not every system has such a limit
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # it ends the process, whatever that does
    for line in sys.stdin.buffer:
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
        reply = json.dumps(answer(json.loads(line)))
        signal.setitimer(signal.ITIMER_PROF, 0)
        sys.stdout.buffer.write(reply.encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
