"""Routes: which address leads where."""

from starlette.routing import Route

from pgplane.edge.manifests.serving import describe
from pgplane.edge.routes.asking import submit
from pgplane.edge.routes.jobs import poll
from pgplane.edge.routes.probes import livez, readyz
from pgplane.edge.routes.streaming import stream

ROUTES = [
    Route("/api/{surface}/openapi.json", describe, methods=["GET"]),
    Route("/api/{surface}/q", submit, methods=["POST"]),
    Route("/api/{surface}/q/{job_id}", poll, methods=["GET"]),
    Route("/api/{surface}/q/{job_id}/stream", stream, methods=["GET"]),
    Route("/livez", livez, methods=["GET"]),
    Route("/readyz", readyz, methods=["GET"]),
]
