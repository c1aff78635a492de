"""A real edge for tests, and browsers that ask it."""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
import orjson

from .issuer import AUDIENCE, Issuer
from .processes import Process


@dataclass(frozen=True)
class EdgeProcess:
    """A running edge: where it listens, whose tokens it takes."""

    process: Process
    port: int
    issuer: Issuer

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    def restart(self) -> None:
        """Another process of the same settings at the same port, once it hears notifications."""
        self.process.restart("--port", str(self.port))
        self.process.event("listener.ready")

    def connections(self) -> httpx2.AsyncClient:
        """HTTP to this edge, over as many connections as it takes."""
        limits = httpx2.Limits(max_connections=None)
        return httpx2.AsyncClient(base_url=self.url, timeout=30, limits=limits)


@contextmanager
def edge_process(issuer: Issuer, *arguments: str, **settings: str) -> Iterator[EdgeProcess]:
    """An edge that listens on a free port and trusts this issuer."""
    process = Process(
        "edge", "--port", "0", *arguments,
        jwt_key=issuer.public_pem, jwt_audience=AUDIENCE, **settings,
    )  # fmt: skip
    with process:
        yield EdgeProcess(process, process.event("edge.started")["port"], issuer)


class Browser:
    """Asks one surface, with the headers that say who it is."""

    def __init__(self, http: httpx2.AsyncClient, surface: str, headers: dict[str, str]) -> None:
        self._http = http
        self._path = f"/api/{surface}/q"
        self._headers = headers

    async def ask(self, operation: str, /, **params: object) -> dict[str, Any]:
        """Ask and be told where the answer will be: the body of the 202."""
        response = await self.post({"operation": operation, "params": params})
        assert response.status_code == 202, response.text
        body: dict[str, Any] = response.json()
        return body

    async def post(self, body: object, **headers: str) -> httpx2.Response:
        """POST this body (JSON, or bytes as they are)."""
        content = body if isinstance(body, bytes) else orjson.dumps(body)
        return await self._http.post(self._path, content=content, headers=self._headers | headers)

    async def poll(self, job_id: str) -> httpx2.Response:
        """GET the job."""
        return await self._http.get(f"{self._path}/{job_id}", headers=self._headers)

    async def answer(self, asked: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """The last event of the question's stream (name, data), as a plain EventSource gets it."""
        return [event async for event in self.events(asked["streamUrl"])][-1]

    async def events(self, url: str) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """The events of a stream, up to its end."""
        async with self._http.stream("GET", url) as response:
            assert response.status_code == 200, await response.aread()
            name = ""
            async for line in response.aiter_lines():
                if line.startswith("event: "):
                    name = line.removeprefix("event: ")
                elif line.startswith("data: "):
                    yield name, orjson.loads(line.removeprefix("data: "))
