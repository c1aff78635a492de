"""Shapes: the bodies that the edge's addresses take and give, as JSON Schemas."""

from typing import Any

JOB_ID = {
    "type": "string",
    "pattern": "^[0-9]{1,19}$",
    "description": "A string, since it may have 64 bits.",
}
_MOMENT = {"type": ["string", "null"], "format": "date-time"}
_URL = {"type": "string", "description": "Relative to the server."}
_TICKET_URL = {"type": "string", "description": "Carries a ticket: good for an EventSource."}


def _object(properties: dict[str, Any], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
    }


SHAPES: dict[str, dict[str, Any]] = {
    "Accepted": _object(
        {
            "jobId": JOB_ID,
            "streamUrl": _TICKET_URL,
            "statusUrl": _URL,
            "coalesced": {"type": "boolean", "description": "It joined a job that was there."},
        }
    ),
    "Job": {
        **_object(
            {
                "jobId": JOB_ID,
                "status": {
                    "enum": [
                        "pending",
                        "waiting",
                        "in_progress",
                        "cancelling",
                        "done",
                        "poison",
                        "cancelled",
                    ]
                },
                "progress": {
                    "description": "`{done, total, message}`, as the operation reports it."
                },
                "position": {
                    "type": ["integer", "null"],
                    "minimum": 1,
                    "maximum": 1000,
                    "description": "The place among the jobs that can be claimed.",
                },
                "result": {"description": "Of a job that is done, where `error` is not."},
                "error": {"$ref": "#/components/schemas/Problem"},
                "cache": {"enum": ["hit", "coalesced", None]},
                "times": _object({"created": _MOMENT, "claimed": _MOMENT, "finished": _MOMENT}),
            },
            optional=("result", "error"),
        ),
        "description": "How a job stands.",
    },
    "Problem": {
        **_object(
            {
                "type": {"const": "about:blank"},
                "title": {"type": "string"},
                "status": {"type": "integer", "minimum": 400, "maximum": 599},
                "code": {"type": "string", "description": "For programs; `detail` is for people."},
                "detail": {"type": "string"},
                "errors": {
                    "type": "array",
                    "items": _object({"field": {"type": "string"}, "message": {"type": "string"}}),
                    "description": "Of params that do not fit: each field, a dotted path.",
                },
            },
            optional=("errors",),
        ),
        "description": "A refusal (RFC 9457), or the error of a job.",
    },
    "JobTickets": _object(
        {
            "streamUrl": _TICKET_URL,
            "blobTicket": {"type": "string", "description": "Opens every blob of the job."},
            "expiresAt": {"type": "string", "format": "date-time"},
        }
    ),
    "StreamTicket": _object(
        {
            "streamUrl": _TICKET_URL,
            "expiresAt": {"type": "string", "format": "date-time"},
        }
    ),
    "Ready": _object({"status": {"enum": ["live", "ready"]}}),
}
