"""Access: the one door. Who is through it has a queue, and the keys of what is theirs to see."""

from dataclasses import dataclass

from starlette.requests import Request

from pgplane.edge.access.auth import Verifier
from pgplane.edge.access.scopes import ScopeKeys, name_of
from pgplane.edge.access.tickets import MANY, Purpose, SharedTickets
from pgplane.edge.naming import named_job, named_jobs
from pgplane.edge.problems import Problem
from pgplane.names import queue_of


@dataclass(frozen=True, slots=True)
class Visitor:
    """Whom a header or a ticket let in, where to, and what is theirs to see there."""

    surface: str
    queue: str
    job_id: int
    """The job of the address; 0, which is no job's, where the address has none."""
    scope_keys: tuple[str, ...]
    envelope: str
    """Of the jobs that this visitor asks for; empty with a ticket, which cannot ask."""

    @property
    def name(self) -> str:
        """What this visitor is called among those who wait for a job."""
        return name_of(self.scope_keys)


class Access:
    """Lets requests in: every route that serves a surface begins here."""

    def __init__(
        self, verifier: Verifier, tickets: SharedTickets, scope_keys: ScopeKeys, tier: str
    ) -> None:
        self._verifier = verifier
        self._tickets = tickets
        self._scope_keys = scope_keys
        self._tier = tier

    async def of(self, request: Request, purpose: Purpose | None = None) -> Visitor:
        """Who sends this request, to the surface and perhaps the job of its address.

        A header, where there is one, decides alone. A ticket opens what it was issued for, and only
        where the route says so by a `purpose`: a plain EventSource can send nothing else. It is for
        the job of the address, or for just those that are named behind it.

        Raises Problem 404 before all else for a surface or a job that cannot be, 401 for whoever
        proves nothing, 403 for a surface out of the token's reach.
        """
        surface: str = request.path_params["surface"]
        queue = self._queue(surface)
        job_id = named_job(request)
        authorization = request.headers.get("authorization")
        ticket = request.query_params.get("ticket")
        if purpose is not None and authorization is None and ticket is not None:
            jobs = named_jobs(request) if purpose == MANY else [job_id]
            scope_keys = (await self._tickets.get()).check(ticket, queue, jobs, purpose)
            return Visitor(surface, queue, job_id, scope_keys, envelope="")
        caller = await self._verifier.caller(authorization)
        caller.enter(surface)
        scope_keys = await self._scope_keys.of(caller)
        return Visitor(surface, queue, job_id, scope_keys, caller.envelope())

    def _queue(self, surface: str) -> str:
        """The queue of a surface; whether there is one is the ledger's to say."""
        try:
            return queue_of(surface, self._tier)
        except ValueError:
            raise Problem(404, "NOT_FOUND", "no such surface") from None
