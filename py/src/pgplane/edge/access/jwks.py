"""JWKS: an issuer's public keys, fetched over HTTPS and kept while the issuer is away."""

import asyncio
import math
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import httpx2
import orjson
from jwt import PyJWKSet
from jwt.exceptions import PyJWTError

from pgplane import logs
from pgplane.edge.access.keys import Key, KeyConfigurationError, PublicKey, fits
from pgplane.edge.problems import Problem

log = logs.get("edge")

FRESH_SECONDS = 600.0
STALE_SECONDS = 12 * 3600.0
COOL_DOWN_SECONDS = 30.0
FETCH_SECONDS = 5.0
MAX_BYTES = 256 * 1024
MAX_KEYS = 100
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}


class Jwks:
    """Keys by `kid`. One fetch at a time, none within the cool-down of the last.

    Keys older than ten minutes are renewed in the background while they go on serving; they serve
    for twelve hours when the issuer does not answer. A `kid` that nobody knows cannot make the
    edge call the issuer more often than the cool-down allows.
    """

    def __init__(
        self,
        url: str,
        transport: httpx2.AsyncBaseTransport | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Raises KeyConfigurationError unless `url` is https, or http on this host."""
        parts = urlsplit(url)
        if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOOPBACK):
            raise KeyConfigurationError("PLANE_JWT_JWKS_URL must be https (http on loopback only)")
        self._url = url
        self._transport = transport
        self._clock = clock
        self._keys: list[tuple[str | None, PublicKey]] = []
        self._fetched_at: float | None = None
        self._tried_at: float | None = None
        self._fetch: asyncio.Task[None] | None = None

    async def find(self, kid: str | None, algorithm: str) -> Key | None:
        """The key that fits; without a `kid`, the only one that does.

        Raises Problem 503 while no key set could be had at all.
        """
        if self._age() > STALE_SECONDS:
            await self._refresh()
            if self._age() > STALE_SECONDS:
                raise Problem(
                    503,
                    "ISSUER_UNAVAILABLE",
                    "the token issuer's keys cannot be had; try again",
                    retry_after=int(COOL_DOWN_SECONDS),
                )
        elif self._age() > FRESH_SECONDS:
            self._start_fetch()
        key = self._look_up(kid, algorithm)
        if key is None:
            await self._refresh()
            key = self._look_up(kid, algorithm)
        return key

    async def close(self) -> None:
        """Stop a fetch that is under way."""
        if self._fetch is not None:
            self._fetch.cancel()
            await asyncio.gather(self._fetch, return_exceptions=True)

    def _age(self) -> float:
        return math.inf if self._fetched_at is None else self._clock() - self._fetched_at

    def _look_up(self, kid: str | None, algorithm: str) -> Key | None:
        fitting = [
            key
            for key_id, key in self._keys
            if fits(key, algorithm) and (kid is None or key_id == kid)
        ]
        return fitting[0] if len(fitting) == 1 or (kid is not None and fitting) else None

    async def _refresh(self) -> None:
        self._start_fetch()
        if self._fetch is not None:
            await asyncio.shield(self._fetch)

    def _start_fetch(self) -> None:
        if self._fetch is not None and not self._fetch.done():
            return
        self._fetch = None
        now = self._clock()
        if self._tried_at is None or now - self._tried_at >= COOL_DOWN_SECONDS:
            self._tried_at = now
            self._fetch = asyncio.create_task(self._renew(), name="jwks")

    async def _renew(self) -> None:
        try:
            async with asyncio.timeout(FETCH_SECONDS):
                keys = _public_keys(await self._download())
        except (httpx2.HTTPError, PyJWTError, ValueError, TimeoutError) as error:
            log.warning("jwks.fetch_failed", url=self._url, error=str(error) or "timed out")
            return
        self._keys, self._fetched_at = keys, self._clock()
        log.info("jwks.fetched", url=self._url, keys=len(keys))

    async def _download(self) -> bytes:
        async with (
            httpx2.AsyncClient(transport=self._transport, timeout=FETCH_SECONDS) as client,
            client.stream("GET", self._url, headers={"Accept": "application/json"}) as response,
        ):
            if response.status_code != 200:
                raise ValueError(f"the issuer answered {response.status_code}")
            body = bytearray()
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > MAX_BYTES:
                    raise ValueError(f"the key set is larger than {MAX_BYTES} bytes")
            return bytes(body)


def _public_keys(text: bytes) -> list[tuple[str | None, PublicKey]]:
    """The signing keys of a JWK set; shared secrets and encryption keys in it are left out."""
    document: Any = orjson.loads(text)
    if not isinstance(document, dict) or not isinstance(document.get("keys"), list):
        raise ValueError("the answer is no JWK set")
    if len(document["keys"]) > MAX_KEYS:
        raise ValueError(f"the key set has more than {MAX_KEYS} keys")
    keys = [
        (jwk.key_id, jwk.key)
        for jwk in PyJWKSet.from_dict(document)
        if jwk.public_key_use in (None, "sig") and isinstance(jwk.key, PublicKey)
    ]
    if not keys:
        raise ValueError("the key set has no public signing key")
    return keys
