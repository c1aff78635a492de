"""Checks: params against the schemas of workers, by a process of their own."""

import asyncio
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

from pgplane import logs
from pgplane.edge.checking.checker import key_of
from pgplane.edge.checking.params import parse
from pgplane.edge.checking.wording import Wrong

log = logs.get("edge")

MAX_SCHEMA = 256 * 1024
MAX_PARAMS = 256 * 1024
"""Bytes, and characters; the ledger takes no larger params, unless they are mostly escapes."""

WAIT_SECONDS = 2.0
"""How long a question may wait for its turn: without a check, the worker is the judge."""

ANSWER_SECONDS = 5.0
"""How long the checker may take by the clock; what is too dear is ended by the processor's time."""

_MAX_LINE = 4 * 1024**2
_ENDED_FROM_OUTSIDE = {-signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP}


class UndecidedError(Exception):
    """There is no telling now."""


class TooDearError(Exception):
    """It takes more time or memory than a check may."""


class Verdict(NamedTuple):
    """What is wrong with params; `reason`: why the schema cannot be used, None: it can."""

    reason: str | None
    wrong: list[Wrong]


class Checks:
    """Asks the checker, which is started when it is first needed, and again when it has died."""

    def __init__(self) -> None:
        self._process: Process | None = None
        self._turn = asyncio.Lock()

    async def verdict(self, schema: bytes, params: str) -> Verdict:
        """The verdict on params; raises UndecidedError, TooDearError."""
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await self._turn.acquire()
        except TimeoutError:
            raise UndecidedError from None
        try:
            fresh = self._process is None
            try:
                return await self._ask(schema, params)
            except TooDearError:
                if fresh:
                    raise
                # It may have died of what it kept for others: alone, it is seen whose fault it is.
                return await self._ask(schema, params)
        finally:
            self._turn.release()

    async def close(self) -> None:
        """End the checker."""
        if self._process is not None:
            await self._end(self._process)

    async def _ask(self, schema: bytes, params: str) -> Verdict:
        if self._process is None:
            try:
                self._process = await _started()
            except OSError:  # there is no room for a process just now
                raise UndecidedError from None
        process, decided = self._process, False
        try:
            request = {"schema": key_of(schema), "text": None, "params": params}
            async with asyncio.timeout(ANSWER_SECONDS):
                reply = await _exchange(process, request)
                if not reply["known"]:
                    request["text"] = schema.decode(errors="replace")
                    reply = await _exchange(process, request)
            decided = True
        except TimeoutError:  # it had next to no processor: that tells nothing of the schema
            raise UndecidedError from None
        except (EOFError, OSError):
            status = await process.wait()
            raise (UndecidedError if status in _ENDED_FROM_OUTSIDE else TooDearError) from None
        finally:
            if not decided:  # it is dead, or would answer the next question with this one's answer
                await self._end(process)
        return Verdict(reply["reason"], [Wrong(*one) for one in reply["wrong"]])

    async def _end(self, process: Process) -> None:
        self._process = None
        if process.returncode is None:
            process.kill()
        await process.wait()


class Schema:
    """The JSON Schema of an operation's params, as the checker reads it.

    One that cannot be used, or took too long once, refuses nothing from then on; the log is told
    of it.
    """

    def __init__(self, text: bytes, checks: Checks, **whose: object) -> None:
        """`whose`: what the log says that it is of."""
        self._text = text
        self._checks = checks
        self._whose = whose
        self._usable = True
        self._sound = False
        if len(text) > MAX_SCHEMA:
            self._give_up(f"it has more than {MAX_SCHEMA} bytes")

    async def faults(self, params: str) -> list[Wrong]:
        """What is wrong with params, by field; none: they fit, or it is not for the edge to say."""
        if not self._usable or len(params) > MAX_PARAMS:
            return []
        try:
            verdict = await self._checks.verdict(self._text, params)
        except UndecidedError:
            return []
        except TooDearError:
            self._give_up("a check by it takes too much time or memory")
            return []
        self._sound = verdict.reason is None
        if verdict.reason is not None:
            self._give_up(verdict.reason)
        return verdict.wrong

    async def document(self) -> dict[str, Any] | None:
        """The schema itself; None: it cannot be used. One that was good is described, though params
        may have been too dear since."""
        await self.faults("{}")
        if not self._usable and not self._sound:
            return None
        found: dict[str, Any] = parse(self._text.decode())
        return found

    def _give_up(self, reason: str) -> None:
        if self._usable:
            self._usable = False
            log.warning("manifest.unusable_schema", **self._whose, error=reason)


async def _started() -> Process:
    """A checker: it knows nothing of this process's settings, and hears none of its signals."""
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-m", "pgplane.edge.checking.checker"),
        stdin=PIPE,
        stdout=PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={},
        start_new_session=True,
        limit=_MAX_LINE,
    )


async def _exchange(process: Process, request: Mapping[str, object]) -> dict[str, Any]:
    """One request and its answer; raises EOFError or OSError where the process has died."""
    ask, hear = process.stdin, process.stdout
    if ask is None or hear is None:
        raise EOFError
    ask.write(orjson.dumps(request) + b"\n")
    await ask.drain()
    line = await hear.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    reply: dict[str, Any] = orjson.loads(line)
    return reply
