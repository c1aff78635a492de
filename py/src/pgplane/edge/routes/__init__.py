"""Routes: which address leads where."""

from starlette.routing import Route

from pgplane.edge.routes.asking import submit
from pgplane.edge.routes.blobs import blob
from pgplane.edge.routes.describing import describe
from pgplane.edge.routes.jobs import job
from pgplane.edge.routes.probes import livez, readyz
from pgplane.edge.routes.streaming import stream, stream_many
from pgplane.edge.routes.tickets import job_ticket, stream_ticket

ROUTES = [
    Route("/api/{surface}/openapi.json", describe, methods=["GET"]),
    Route("/api/{surface}/q", submit, methods=["POST"]),
    Route("/api/{surface}/q/{job_id}", job, methods=["GET", "DELETE"]),
    Route("/api/{surface}/q/{job_id}/stream", stream, methods=["GET"]),
    Route("/api/{surface}/q/{job_id}/ticket", job_ticket, methods=["POST"]),
    Route("/api/{surface}/q/{job_id}/blob/{blob}", blob, methods=["GET"]),
    Route("/api/{surface}/stream", stream_many, methods=["GET"]),
    Route("/api/{surface}/ticket", stream_ticket, methods=["POST"]),
    Route("/livez", livez, methods=["GET"]),
    Route("/readyz", readyz, methods=["GET"]),
]
