"""Tickets: what lets a plain EventSource or link in, which can send no header."""

import orjson
from starlette.requests import Request
from starlette.responses import Response

from pgplane import ledger
from pgplane.edge.access.tickets import BLOB, MANY, STREAM
from pgplane.edge.edge import Edge
from pgplane.edge.naming import named_jobs
from pgplane.edge.routes.responses import json_response, surface_url


async def job_ticket(request: Request) -> Response:
    """POST for tickets of a job: to its stream, and to all of its blobs."""
    edge: Edge = request.app.state.edge
    visitor = await edge.access.of(request)
    await edge.check(visitor)
    tickets = await edge.tickets.get()
    expires_at = tickets.expiry()
    of_stream, of_blobs = (
        tickets.issue(visitor.queue, [visitor.job_id], visitor.scope_keys, purpose)
        for purpose in (STREAM, BLOB)
    )
    status_url = f"{surface_url(request, visitor)}/q/{visitor.job_id}"
    body = {
        "streamUrl": f"{status_url}/stream?ticket={of_stream}",
        "blobTicket": of_blobs,
        "expiresAt": expires_at,
    }
    return json_response(orjson.dumps(body, option=orjson.OPT_UTC_Z))


async def stream_ticket(request: Request) -> Response:
    """POST for a ticket to the stream of these jobs; whose they are, the stream will tell."""
    edge: Edge = request.app.state.edge
    visitor = await edge.access.of(request)
    job_ids = named_jobs(request)
    await edge.database.call(ledger.get_results, visitor.queue, [])  # is there such a surface?
    tickets = await edge.tickets.get()
    expires_at = tickets.expiry()
    ticket = tickets.issue(visitor.queue, job_ids, visitor.scope_keys, MANY)
    named = ",".join(map(str, job_ids))
    body = {
        "streamUrl": f"{surface_url(request, visitor)}/stream?jobs={named}&ticket={ticket}",
        "expiresAt": expires_at,
    }
    return json_response(orjson.dumps(body, option=orjson.OPT_UTC_Z))
