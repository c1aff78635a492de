"""Addresses: what the edge serves where, as the paths of an OpenAPI document."""

from typing import Any

from pgplane.edge.manifests.shapes import JOB_ID

_REFUSALS = {
    400: "The body is no JSON.",
    401: "The header or the ticket is missing, invalid or has expired.",
    403: "The token does not reach this surface.",
    404: "There is no such surface, operation, job or blob; or it is not the caller's to see.",
    408: "The body did not arrive in time.",
    410: "The blob has expired.",
    413: "The body or the params are too large.",
    415: "The body is of another content type.",
    416: "The blob has no such range.",
    422: "The params do not fit, or the question is of another shape.",
    429: "The queue is full, or the caller has too much open.",
    500: "A fault of the edge: `requestId` finds it in the log.",
    503: "Not just now.",
}
_ANYWHERE = (401, 403, 404, 500, 503)
_TEXT = {"type": "string"}
_BY_TICKET: list[dict[str, list[str]]] = [{"token": []}, {"ticket": []}]
_FOLLOW_UP = {
    name: {"operationId": name, "parameters": {"jobId": "$response.body#/jobId"}}
    for name in ("getJob", "leaveJob", "streamJob", "issueJobTickets")
}
_COMING_BACK = "Last-Event-ID", "The last event that was seen; of the end, it is answered 204."

PARAMETERS: dict[str, dict[str, Any]] = {
    "jobId": {"name": "jobId", "in": "path", "required": True, "schema": JOB_ID},
    "blob": {
        "name": "blob",
        "in": "path",
        "required": True,
        "schema": {"type": "integer", "minimum": 1},
        "description": "As a `blobRef` of the result names it.",
    },
    "jobs": {
        "name": "jobs",
        "in": "query",
        "required": True,
        "style": "form",
        "explode": False,
        "schema": {"type": "array", "items": JOB_ID, "minItems": 1, "maxItems": 100},
    },
}
SECURITY_SCHEMES = {
    "token": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
    "ticket": {
        "type": "apiKey",
        "in": "query",
        "name": "ticket",
        "description": "In the URLs that the edge gives; for one thing, and a few minutes.",
    },
}


def responses() -> dict[str, Any]:
    """The refusals, as components."""
    return {
        f"Refused{status}": {
            "description": description,
            "content": {"application/problem+json": {"schema": _shape("Problem")}},
            **({"headers": _headers("Retry-After")} if status in (429, 503) else {}),
        }
        for status, description in _REFUSALS.items()
    }


def addresses() -> dict[str, dict[str, Any]]:
    """Path → method → operation; the body of a question is `#/components/schemas/Question`."""
    job = "/api/{surface}/q/{jobId}"
    return {
        "/api/{surface}/q": {"post": _ask()},
        job: {
            "get": _operation(
                "getJob",
                "How a job stands: its result or error once it has ended.",
                {"200": _json("The job.", "Job", "Retry-After")},
            ),
            "delete": _operation(
                "leaveJob",
                "The caller wants the job no more; when nobody does, it is cancelled.",
                {"204": {"description": "Left; also when the job has ended."}},
            ),
        },
        f"{job}/stream": {
            "get": _operation(
                "streamJob",
                "The same as server-sent events: `queued`, `running`, `progress`; last `done` or"
                " `error`.",
                _events(),
                429,
                parameters=[_header(*_COMING_BACK)],
                security=_BY_TICKET,
            )
        },
        f"{job}/ticket": {
            "post": _operation(
                "issueJobTickets",
                "Tickets for the job's stream and for its blobs; those issued before stay good.",
                {"200": _json("The tickets.", "JobTickets")},
            )
        },
        f"{job}/blob/{{blob}}": {"get": _download()},
        "/api/{surface}/stream": {
            "get": _operation(
                "streamJobs",
                "Many jobs in one stream; its last event is `end`.",
                _events(),
                422,
                429,
                parameters=[_parameter("jobs"), _header(*_COMING_BACK)],
                security=_BY_TICKET,
            )
        },
        "/api/{surface}/ticket": {
            "post": _operation(
                "issueStreamTicket",
                "A ticket for the stream of these jobs.",
                {"200": _json("The ticket.", "StreamTicket")},
                422,
                parameters=[_parameter("jobs")],
            )
        },
        "/api/{surface}/openapi.json": {
            "get": _operation(
                "describe",
                "This document.",
                {"200": _content("OpenAPI 3.1.", "application/json", {"type": "object"})},
            )
        },
        "/livez": {"get": _probe("livez", "Whether the process runs.")},
        "/readyz": {"get": _probe("readyz", "Whether requests can be served here.", 503)},
    }


def _ask() -> dict[str, Any]:
    accepted = _json("The question is a job now, or has joined one.", "Accepted")
    answered = _json("`Prefer` waited long enough: the job.", "Job")
    accepted |= {"headers": _headers("Location", "Retry-After", "Cache-Status")}
    answered |= {"headers": _headers("Location", "Preference-Applied", "Cache-Status")}
    return {
        **_operation(
            "ask",
            "Ask a question.",
            {
                "200": {**answered, "links": _FOLLOW_UP},
                "202": {**accepted, "links": _FOLLOW_UP},
            },
            400,
            408,
            413,
            415,
            422,
            429,
            parameters=[
                _header("Prefer", "`wait=20` waits up to so many seconds for the answer."),
                _header("Cache-Control", "`no-cache` asks for a run of its own."),
            ],
        ),
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": _shape("Question")}},
        },
    }


def _download() -> dict[str, Any]:
    anything: dict[str, Any] = {"application/octet-stream": {}}
    return _operation(
        "getBlob",
        "A blob of a result.",
        {
            "200": {
                "description": "All of it, of its own content type.",
                "headers": _headers("ETag", "Accept-Ranges", "Content-Disposition"),
                "content": anything,
            },
            "206": {
                "description": "The range.",
                "headers": _headers("ETag", "Content-Range"),
                "content": anything,
            },
            "304": {"description": "It is what the caller has."},
        },
        410,
        416,
        429,
        parameters=[
            _parameter("blob"),
            _header("Range", "One range of bytes; of several, all is sent."),
            _header("If-Range", "The `ETag` that the range is of."),
            _header("If-None-Match", "The `ETag` that the caller has."),
        ],
        security=_BY_TICKET,
    )


def _probe(name: str, summary: str, *refusals: int) -> dict[str, Any]:
    return {
        "operationId": name,
        "summary": summary,
        "security": [],
        "responses": {"200": _json("It is so.", "Ready"), **_refused(refusals)},
    }


def _operation(
    name: str,
    summary: str,
    answers: dict[str, Any],
    *refusals: int,
    parameters: list[dict[str, Any]] | None = None,
    security: list[dict[str, list[str]]] | None = None,
) -> dict[str, Any]:
    return {
        "operationId": name,
        "summary": summary,
        "parameters": parameters or [],
        "security": security or [{"token": []}],
        "responses": answers | _refused({*_ANYWHERE, *refusals}),
    }


def _refused(statuses: tuple[int, ...] | set[int]) -> dict[str, Any]:
    return {
        str(status): {"$ref": f"#/components/responses/Refused{status}"}
        for status in sorted(statuses)
    }


def _events() -> dict[str, Any]:
    return {
        "200": {"description": "The events.", "content": {"text/event-stream": {}}},
        "204": {"description": "The caller has seen the last event."},
    }


def _json(description: str, shape: str, *headers: str) -> dict[str, Any]:
    content = _content(description, "application/json", _shape(shape))
    return {**content, "headers": _headers(*headers)} if headers else content


def _content(description: str, media_type: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": description, "content": {media_type: {"schema": schema}}}


def _headers(*names: str) -> dict[str, Any]:
    return {name: {"schema": _TEXT} for name in names}


def _header(name: str, description: str) -> dict[str, Any]:
    return {"name": name, "in": "header", "description": description, "schema": _TEXT}


def _parameter(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/parameters/{name}"}


def _shape(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}
