"""Jobs: how one stands."""

from starlette.requests import Request
from starlette.responses import Response

from pgplane.edge.parts import Edge
from pgplane.edge.replies import replies
from pgplane.edge.replies.waiters import TERMINAL
from pgplane.edge.routes.answers import answer


async def poll(request: Request) -> Response:
    """GET a job: its status, and its result or error once it has ended."""
    edge: Edge = request.app.state.edge
    job = await edge.find(await edge.access.of(request))
    headers = {} if job.status in TERMINAL else {"Retry-After": "1"}
    return answer(replies.document(job), headers=headers)
