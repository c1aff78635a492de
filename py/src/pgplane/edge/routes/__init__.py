"""Routes: which address leads where."""

from starlette.routing import Route

from pgplane.edge.routes.asking import submit
from pgplane.edge.routes.jobs import job
from pgplane.edge.routes.probes import livez, readyz
from pgplane.edge.routes.streaming import stream

ROUTES = [
    Route("/api/{surface}/q", submit, methods=["POST"]),
    Route("/api/{surface}/q/{job_id}", job, methods=["GET", "DELETE"]),
    Route("/api/{surface}/q/{job_id}/stream", stream, methods=["GET"]),
    Route("/livez", livez, methods=["GET"]),
    Route("/readyz", readyz, methods=["GET"]),
]
