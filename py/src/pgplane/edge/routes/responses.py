"""Responses: JSON that no cache keeps."""

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response

from pgplane.edge.access.access import Visitor

NO_STORE = {"Cache-Control": "no-store"}
POLL = {"Retry-After": "1"}
"""For who may ask how a job stands again."""


def json_response(
    body: bytes, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """A JSON text as a response."""
    return Response(body, status, {**NO_STORE, **(headers or {})}, "application/json")


def surface_url(request: Request, visitor: Visitor) -> str:
    """Where the surface is served, as a path from the root of this host."""
    return f"{request.scope.get('root_path', '')}/api/{visitor.surface}"
