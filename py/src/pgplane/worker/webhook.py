"""The webhook: another system that is told of each execution, by POST."""

import asyncio
from contextlib import aclosing

import httpx2
import orjson

from pgplane import __version__
from pgplane.worker.telemetry import Run

SECONDS = 2.0
"""How long one POST may take, answer included."""
ANSWER_BYTES = 64 * 1024
"""What is read of an answer, so that its connection can be used again; nothing looks at it."""


class WebhookError(Exception):
    """It did not take a run."""


class Webhook:
    """POSTs a run as JSON, once; whatever is not a 2xx in time is an error."""

    def __init__(
        self,
        url: str,
        queue: str,
        worker: str,
        *,
        transport: httpx2.AsyncBaseTransport | None = None,
        seconds: float = SECONDS,
    ) -> None:
        self._url = url
        self._about = {"queue": queue, "worker": worker}
        self._seconds = seconds
        self._http = httpx2.AsyncClient(
            transport=transport,
            timeout=seconds,
            headers={
                "Content-Type": "application/json",
                "Accept-Encoding": "identity",
                "User-Agent": f"pgplane/{__version__}",
            },
        )

    async def send(self, run: Run) -> None:
        """Raises WebhookError, which does not name the URL: that may hold a secret."""
        try:
            async with (
                asyncio.timeout(self._seconds),
                self._http.stream("POST", self._url, content=self._body(run)) as response,
            ):
                status = response.status_code
                await _read_some(response)
        except TimeoutError:
            raise WebhookError(f"no answer within {self._seconds:g} s") from None
        except httpx2.HTTPError as error:
            raise WebhookError(type(error).__name__) from None
        if not 200 <= status < 300:
            raise WebhookError(f"it answered {status}")

    async def close(self) -> None:
        """Close its connections."""
        await self._http.aclose()

    def _body(self, run: Run) -> bytes:
        return orjson.dumps(
            {
                **self._about,
                "jobId": str(run.job_id),
                "attempt": run.attempt,
                "operation": run.operation,
                "version": run.version,
                "outcome": run.outcome,
                "cache": run.cache,
                "startedAt": run.started_at,
                "queueWaitMs": run.queue_wait_ms,
                "wallMs": run.wall_ms,
                "cpuMs": run.cpu_ms,
                "rssBytes": run.rss_bytes,
            }
        )


async def _read_some(response: httpx2.Response) -> None:
    read = 0
    async with aclosing(response.aiter_bytes()) as chunks:
        async for chunk in chunks:
            read += len(chunk)
            if read > ANSWER_BYTES:
                return
