"""Describing: what a surface takes, as an OpenAPI document."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pgplane.edge.edge import Edge
from pgplane.edge.manifests.manifests import SURE_SECONDS
from pgplane.edge.manifests.openapi import Described, document
from pgplane.edge.routes.responses import json_response


async def describe(request: Request) -> Response:
    """GET a surface's OpenAPI document."""
    edge: Edge = request.app.state.edge
    visitor = await edge.access.of(request)
    manifest = await edge.manifests.get(visitor.queue, SURE_SECONDS)
    operations = []
    for offer in manifest.offers:
        async with edge.admission.question(visitor.name):
            params, required = await offer.schema.document(), await offer.schema.faults("{}")
        operations.append(Described(offer.operation, params, bool(required)))
    served = [
        (method, route.path)
        for route in request.app.routes
        if isinstance(route, Route)
        for method in route.methods or ()
    ]
    root_path = request.scope.get("root_path", "")
    return json_response(document(visitor.surface, operations, served, root_path))
