"""Routes: each thing that can be done at an address of the edge, and what is seen by it."""

from dataclasses import dataclass
from typing import Any

from pgplane.edge.access.tickets import BLOB, MANY, STREAM, Purpose

QUESTION = {"operation": "airlines", "params": {}}


@dataclass(frozen=True)
class Deed:
    """A request to an address, by whoever it is.

    `ok`: the status where nothing is in the way. `shows`: whether it then has what the job
    answered. `opens`: the purpose of the tickets that are taken in place of a header.
    """

    name: str
    method: str
    path: str
    ok: int = 200
    shows: bool = False
    opens: Purpose | None = None
    seen: str | None = None
    """The last event's id, as a client sends it that comes back."""
    body: Any = None

    @property
    def of_a_job(self) -> bool:
        """Whether the address names the job, which is 404 then to whoever may not see it."""
        return "{job_id}" in self.path


JOB = "/api/{surface}/q/{job_id}"
GATHERED = "/api/{surface}/stream"
DEEDS = [
    Deed("ask", "POST", "/api/{surface}/q", 202, body=QUESTION),
    Deed("poll", "GET", JOB, shows=True),
    Deed("leave", "DELETE", JOB, 204),
    Deed("follow", "GET", f"{JOB}/stream", shows=True, opens=STREAM),
    Deed("come back", "GET", f"{JOB}/stream", 204, opens=STREAM, seen="{job_id}.end"),
    Deed("download", "GET", f"{JOB}/blob/{{blob}}", shows=True, opens=BLOB),
    Deed("get tickets", "POST", f"{JOB}/ticket"),
    Deed("follow many", "GET", GATHERED, shows=True, opens=MANY),
    Deed("come back to many", "GET", GATHERED, 204, opens=MANY, seen="end"),
    Deed("get a ticket", "POST", "/api/{surface}/ticket"),
    Deed("read the interface", "GET", "/api/{surface}/openapi.json"),
]
