"""Answers: JSON that no cache keeps."""

from collections.abc import Mapping

from starlette.responses import Response

NO_STORE = {"Cache-Control": "no-store"}


def answer(body: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A JSON text as a response."""
    return Response(body, status, {**NO_STORE, **(headers or {})}, "application/json")
