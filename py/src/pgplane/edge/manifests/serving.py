"""Serving: what the routes want of manifests."""

from collections.abc import Iterable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pgplane.edge.edge import Edge
from pgplane.edge.manifests.manifests import SURE_SECONDS
from pgplane.edge.manifests.openapi import Described, document
from pgplane.edge.manifests.wording import Wrong
from pgplane.edge.problems import Problem
from pgplane.edge.questions import Question
from pgplane.edge.routes.answers import answer


async def check(edge: Edge, queue: str, question: Question) -> None:
    """Refuse a question whose params do not fit: Problem 422.

    Whether there is such an operation is for the ledger to say.
    """
    wrong = await edge.manifests.faults(queue, question)
    if wrong:
        raise invalid_params(wrong)


def invalid_params(wrong: Iterable[Wrong]) -> Problem:
    """The refusal of params, the same as the worker's: each wrong field, and what is wrong."""
    errors = [one._asdict() for one in wrong]
    return Problem(422, "PARAMS", "invalid params", extra={"errors": errors})


async def describe(request: Request) -> Response:
    """GET a surface's OpenAPI document."""
    edge: Edge = request.app.state.edge
    visitor = await edge.access.of(request)
    manifest = await edge.manifests.get(visitor.queue, SURE_SECONDS)
    operations = [
        Described(
            offer.operation, await offer.schema.document(), bool(await offer.schema.faults("{}"))
        )
        for offer in manifest.offers
    ]
    served = [
        (method, route.path)
        for route in request.app.routes
        if isinstance(route, Route)
        for method in route.methods or ()
    ]
    root_path = request.scope.get("root_path", "")
    return answer(document(visitor.surface, operations, served, root_path))
