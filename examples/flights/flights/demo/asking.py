"""Ask the edge as a browser does: POST the question, follow the stream to its last event."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import httpx2

from flights.demo.identity import Person

Params = Mapping[str, Any]
_TERMINAL = frozenset({"done", "error"})


@dataclass
class Reply:
    """What came back, and when; moments are seconds of the epoch by this machine's clock.

    Attributes:
        sent, accepted, answered: the POST left, its response came, the last event came.
        status: HTTP status of the POST.
        job_id: empty where the POST was refused.
        coalesced: joined a job that was already live.
        result: the answer, None where it is a refusal.
        problem: the refusal (RFC 9457), None where there is an answer.
        cache: 'hit', 'coalesced' or None.
        times: of the job, by the queue database's clock: created, claimed, finished.
    """

    sent: float
    accepted: float = 0.0
    answered: float = 0.0
    status: int = 0
    job_id: str = ""
    coalesced: bool = False
    result: dict[str, Any] | None = None
    problem: dict[str, Any] | None = None
    cache: str | None = None
    times: dict[str, float] = field(default_factory=dict)

    @property
    def rows(self) -> list[dict[str, Any]] | None:
        """The answer's rows; None where it is a refusal."""
        return None if self.result is None else self.result["rows"]

    @property
    def seconds(self) -> float:
        """From the question to its answer."""
        return self.answered - self.sent


class Asker:
    """An HTTP client of one edge."""

    def __init__(self, address: str, surface: str) -> None:
        self._surface = surface
        self._http = httpx2.AsyncClient(
            base_url=address,
            timeout=httpx2.Timeout(10.0, read=75.0),
            limits=httpx2.Limits(max_connections=100, max_keepalive_connections=100),
        )

    async def close(self) -> None:
        await self._http.aclose()

    async def is_ready(self) -> bool:
        """Whether the edge answers `/readyz` with 200."""
        try:
            return (await self._http.get("/readyz")).status_code == 200
        except httpx2.TransportError:
            return False

    async def ask(self, who: Person, operation: str, params: Params) -> Reply:
        """One question, followed to its end. Raises httpx2.HTTPError where the edge is gone."""
        reply = Reply(sent=time.time())
        response = await self._http.post(
            f"/api/{self._surface}/q",
            json={"operation": operation, "params": params},
            headers=_authorization(who),
        )
        reply.accepted = reply.answered = time.time()
        reply.status = response.status_code
        if response.status_code != 202:
            reply.problem = response.json()
            return reply
        accepted = response.json()
        reply.job_id, reply.coalesced = accepted["jobId"], accepted["coalesced"]
        await self._follow(who, accepted["streamUrl"], reply)
        return reply

    async def status_of(self, who: Person, job_id: str) -> int:
        """HTTP status of somebody's look at a job."""
        response = await self._http.get(
            f"/api/{self._surface}/q/{job_id}", headers=_authorization(who)
        )
        return response.status_code

    async def file_of(self, who: Person, job_id: str, reference: Any) -> httpx2.Response:
        """Somebody's download of a file that a job's result names."""
        return await self._http.get(
            f"/api/{self._surface}/q/{job_id}/blob/{reference['blobRef']['blob']}",
            headers=_authorization(who),
        )

    async def _follow(self, who: Person, stream: str, reply: Reply) -> None:
        async with self._http.sse(stream, headers=_authorization(who)) as events:
            async for event in events:
                if event.event not in _TERMINAL:
                    continue
                reply.answered = time.time()
                body = json.loads(event.data)
                if event.event == "done":
                    reply.result = body["result"]
                    reply.cache = body.get("cache")
                else:
                    reply.problem = body
                reply.times = {
                    name: datetime.fromisoformat(moment).timestamp()
                    for name, moment in body.get("times", {}).items()
                    if moment is not None
                }
                return


def _authorization(who: Person) -> dict[str, str]:
    return {"Authorization": f"Bearer {who.token}"}
