"""Problems: every refusal of the edge as RFC 9457 `application/problem+json`."""

from collections.abc import Mapping
from http import HTTPStatus
from uuid import uuid4

import orjson
import structlog
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pgplane import logs
from pgplane.errors import Busy, LedgerError, NotReady, QueueFull, Unavailable, Unstorable

log = logs.get("edge")

MEDIA_TYPE = "application/problem+json"
_RETRY_AFTER: dict[type[LedgerError], int] = {
    QueueFull: 2,
    NotReady: 5,
    Busy: 1,
    Unavailable: 5,
}


class Problem(Exception):
    """A refusal: HTTP status, a stable code for programs, a sentence for people.

    `extra` members join the document beside `type`, `title`, `status`, `code` and `detail`;
    `retry_after`: in how many seconds it may be otherwise.
    """

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        headers: Mapping[str, str] | None = None,
        extra: Mapping[str, object] | None = None,
        retry_after: int | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.headers = dict(headers or {})
        if retry_after is not None:
            self.headers["Retry-After"] = str(retry_after)
        self.extra = dict(extra or {})

    def members(self) -> dict[str, object]:
        """The problem as a JSON object."""
        return {
            **self.extra,
            "type": "about:blank",
            "title": title(self.status),
            "status": self.status,
            "code": self.code,
            "detail": self.detail,
        }

    def document(self) -> bytes:
        """The problem as JSON text."""
        return orjson.dumps(self.members())

    def response(self) -> Response:
        """The problem as an HTTP response that no cache keeps."""
        headers = {"Cache-Control": "no-store", **self.headers}
        return Response(self.document(), self.status, headers, MEDIA_TYPE)


def title(status: int) -> str:
    """The phrase of an HTTP status, as RFC 9457 wants it for `about:blank`."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Error"


def from_ledger(error: LedgerError) -> Problem:
    """The problem that tells a caller of the ledger's refusal.

    Faults of the deployment (a missing grant, an unforeseen SQLSTATE) say nothing of their cause.
    """
    retry_after = _RETRY_AFTER.get(type(error))
    if error.status >= 500 and not isinstance(error, NotReady | Busy | Unavailable):
        return internal()
    if isinstance(error, Unavailable):
        detail = "the queue database is unreachable" if error.sqlstate else error.message
        return Problem(503, "UNAVAILABLE", f"{detail}; try again later", retry_after=retry_after)
    if isinstance(error, Busy):
        detail = "the queue database is busy; try again"
        return Problem(503, "BUSY", detail, retry_after=retry_after)
    if isinstance(error, Unstorable):
        return Problem(422, "INVALID", "the params hold a character that text cannot (NUL)")
    detail = "; ".join(part for part in (error.message, error.detail, error.hint) if part)
    return Problem(error.status, _code(error), detail, retry_after=retry_after)


def no_such_job() -> Problem:
    """The one answer for a job that never was, and for one that is somebody else's."""
    return Problem(404, "NO_SUCH_JOB", "there is no such job, or it is not yours to see")


def internal() -> Problem:
    """An unforeseen fault; the log has its cause under the same request id."""
    request_id = structlog.contextvars.get_contextvars().get("request_id")
    detail = "the edge failed to handle this request"
    return Problem(500, "INTERNAL", detail, extra={"requestId": request_id})


async def answer(request: Request, error: Exception) -> Response:
    """The response to what a route or the router raised."""
    match error:
        case Problem():
            return error.response()
        case LedgerError():
            return _on_ledger_error(request, error).response()
        case HTTPException():
            return _on_http_exception(request, error).response()
        case _:
            raise error


def _on_ledger_error(request: Request, error: LedgerError) -> Problem:
    problem = from_ledger(error)
    if problem.status >= 500:
        log.warning(
            "ledger.refused",
            path=request.url.path,
            sqlstate=error.sqlstate,
            error=error.message,
            detail=error.detail,
        )
    return problem


def _on_http_exception(request: Request, error: HTTPException) -> Problem:
    match error.status_code:
        case 404:
            detail = f"nothing is served at {request.url.path}"
        case 405:
            detail = f"{request.method} is not served at {request.url.path}"
        case _:
            detail = error.detail
    code = title(error.status_code).upper().replace(" ", "_").replace("-", "_")
    return Problem(error.status_code, code, detail, error.headers)


class Boundary:
    """Outermost ASGI layer: gives each request an id, and turns a crash into a 500 problem.

    The id is bound to the log context, and stands in `X-Request-Id` of the response.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = uuid4().hex
        started = False

        async def send_with_id(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                MutableHeaders(scope=message)["X-Request-Id"] = request_id
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id):
            try:
                await self.app(scope, receive, send_with_id)
            except ClientDisconnect:
                return  # nobody is there to be answered
            except Exception:
                log.exception("request.crashed", method=scope["method"], path=scope["path"])
                if started:
                    raise
                await internal().response()(scope, receive, send_with_id)


def _code(error: LedgerError) -> str:
    """`NotFound` → `NOT_FOUND`."""
    name = type(error).__name__
    return "".join(f"_{c}" if c.isupper() and i else c for i, c in enumerate(name)).upper()
