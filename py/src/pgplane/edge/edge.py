"""The edge: its parts, which the routes work with."""

from dataclasses import dataclass

from pgplane import ledger
from pgplane.edge.access.access import Access, Visitor
from pgplane.edge.access.tickets import SharedTickets
from pgplane.edge.admission import Admission
from pgplane.edge.blobs.reading import Blobs
from pgplane.edge.database import QueueDatabase
from pgplane.edge.health import Readiness
from pgplane.edge.manifests.manifests import Manifests
from pgplane.edge.problems import no_such_job
from pgplane.edge.replies.pump import ReplyPump
from pgplane.edge.replies.streams import Streams
from pgplane.ledger.records import Job
from pgplane.settings import Settings


@dataclass(frozen=True, slots=True)
class Edge:
    """The parts of an edge; one a process, at `app.state.edge`."""

    settings: Settings
    database: QueueDatabase
    access: Access
    tickets: SharedTickets
    manifests: Manifests
    admission: Admission
    blobs: Blobs
    pump: ReplyPump
    streams: Streams
    readiness: Readiness

    async def find(self, visitor: Visitor) -> Job:
        """The job that a visitor came for, as they may see it; raises Problem 404."""
        return await self._find(visitor, None)

    async def check(self, visitor: Visitor) -> None:
        """Whether there is that job, whatever its answer; raises Problem 404."""
        await self._find(visitor, 0)

    async def _find(self, visitor: Visitor, max_bytes: int | None) -> Job:
        wanted = [(visitor.job_id, key) for key in visitor.scope_keys]
        jobs = await self.database.call(ledger.get_results, visitor.queue, wanted, max_bytes)
        if not jobs:
            raise no_such_job()
        return jobs[0]
