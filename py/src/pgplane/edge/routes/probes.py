"""Probes: whether this process runs, and whether it can serve."""

from starlette.requests import Request
from starlette.responses import Response

from pgplane.edge.edge import Edge
from pgplane.edge.problems import Problem
from pgplane.edge.routes.responses import json_response


async def livez(_request: Request) -> Response:
    """GET whether the process runs: it answers, so it does."""
    return json_response(b'{"status":"live"}')


async def readyz(request: Request) -> Response:
    """GET whether requests can be served here, or the reasons why not."""
    edge: Edge = request.app.state.edge
    reasons = await edge.readiness.reasons()
    if reasons:
        raise Problem(
            503, "NOT_READY", "; ".join(reasons), extra={"reasons": reasons}, retry_after=2
        )
    return json_response(b'{"status":"ready"}')
