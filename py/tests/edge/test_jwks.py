"""The issuer's key set: when it is fetched, when it is not, and how long it lasts."""

import asyncio
from typing import Any

import httpx2
import pytest

from pgplane.edge.access.jwks import (
    COOL_DOWN_SECONDS,
    FRESH_SECONDS,
    MAX_BYTES,
    STALE_SECONDS,
    Jwks,
)
from pgplane.edge.access.keys import KeyConfigurationError
from pgplane.edge.problems import Problem

from ..support.issuer import Issuer


class Endpoint:
    """An issuer's JWKS address: what it answers, and how often it was asked."""

    def __init__(self, *issuers: Issuer) -> None:
        self.body: Any = {"keys": [issuer.jwk for issuer in issuers]}
        self.status = 200
        self.calls = 0
        self.now = 0.0
        self.asked = asyncio.Event()
        self.open = asyncio.Event()
        self.open.set()
        self.jwks = Jwks("https://id.example/keys", self._transport(), lambda: self.now)

    def _transport(self) -> httpx2.AsyncBaseTransport:
        async def answer(_request: httpx2.Request) -> httpx2.Response:
            self.calls += 1
            self.asked.set()
            await self.open.wait()
            if isinstance(self.body, bytes):
                return httpx2.Response(self.status, content=self.body)
            return httpx2.Response(self.status, json=self.body)

        return httpx2.MockTransport(answer)


async def test_keys_are_found_by_id_and_fetched_once() -> None:
    one, two = Issuer(kid="one"), Issuer("RS256", kid="two")
    endpoint = Endpoint(one, two)
    assert await endpoint.jwks.find("one", "ES256") == one.key.public_key()
    assert await endpoint.jwks.find("two", "RS256") == two.key.public_key()
    assert endpoint.calls == 1


async def test_a_key_never_serves_another_algorithm() -> None:
    endpoint = Endpoint(Issuer(kid="one"))
    for algorithm in ("RS256", "HS256", "EdDSA", "ES384"):
        assert await endpoint.jwks.find("one", algorithm) is None


async def test_without_an_id_the_only_fitting_key_is_meant() -> None:
    one, two = Issuer(), Issuer("RS256")
    assert await Endpoint(one, two).jwks.find(None, "RS256") == two.key.public_key()
    assert await Endpoint(one, Issuer()).jwks.find(None, "ES256") is None


async def test_callers_at_once_share_one_fetch() -> None:
    issuer = Issuer(kid="one")
    endpoint = Endpoint(issuer)
    endpoint.open.clear()
    finds = [asyncio.create_task(endpoint.jwks.find("one", "ES256")) for _ in range(20)]
    await endpoint.asked.wait()
    endpoint.open.set()
    assert await asyncio.gather(*finds) == [issuer.key.public_key()] * 20
    assert endpoint.calls == 1


async def test_unknown_ids_cannot_drive_traffic_to_the_issuer() -> None:
    endpoint = Endpoint(Issuer(kid="one"))
    for number in range(10):
        assert await endpoint.jwks.find(f"guess {number}", "ES256") is None
    assert endpoint.calls == 1
    endpoint.now += COOL_DOWN_SECONDS
    for number in range(10):
        assert await endpoint.jwks.find(f"guess {number}", "ES256") is None
    assert endpoint.calls == 2


async def test_a_new_key_is_found_after_the_cool_down() -> None:
    old, new = Issuer(kid="old"), Issuer(kid="new")
    endpoint = Endpoint(old)
    assert await endpoint.jwks.find("old", "ES256")
    endpoint.body = {"keys": [new.jwk]}
    endpoint.now += COOL_DOWN_SECONDS
    assert await endpoint.jwks.find("new", "ES256") == new.key.public_key()
    assert await endpoint.jwks.find("old", "ES256") is None


async def test_stale_keys_serve_while_the_issuer_is_away_but_not_for_ever() -> None:
    issuer = Issuer(kid="one")
    endpoint = Endpoint(issuer)
    await endpoint.jwks.find("one", "ES256")
    endpoint.status = 500
    for age in (FRESH_SECONDS + 1, STALE_SECONDS - 1):
        endpoint.now = age
        assert await endpoint.jwks.find("one", "ES256") == issuer.key.public_key()
    endpoint.now = STALE_SECONDS + 60
    with pytest.raises(Problem) as raised:
        await endpoint.jwks.find("one", "ES256")
    assert raised.value.status == 503


async def test_an_ageing_set_is_renewed_without_a_caller_waiting() -> None:
    issuer = Issuer(kid="one")
    endpoint = Endpoint(issuer)
    await endpoint.jwks.find("one", "ES256")
    endpoint.open.clear()
    endpoint.asked.clear()
    endpoint.now = FRESH_SECONDS + 1
    assert await endpoint.jwks.find("one", "ES256") == issuer.key.public_key()
    await endpoint.asked.wait()
    endpoint.open.set()
    await endpoint.jwks.close()


@pytest.mark.parametrize(
    "body",
    [
        b"<html>",
        b"[]",
        b'{"keys": []}',
        b'{"keys": {"kty": "EC"}}',
        b'{"keys": [{"kty": "oct", "k": "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0"}]}',
        b'{"keys": [' + b" " * MAX_BYTES + b"]}",
    ],
)
async def test_what_is_no_key_set_is_an_outage_with_a_cool_down(body: bytes) -> None:
    endpoint = Endpoint()
    endpoint.body = body
    for _ in range(5):
        with pytest.raises(Problem) as raised:
            await endpoint.jwks.find("one", "ES256")
        assert (raised.value.status, raised.value.code) == (503, "ISSUER_UNAVAILABLE")
        assert raised.value.headers["Retry-After"]
    assert endpoint.calls == 1


async def test_a_redirect_is_not_followed() -> None:
    endpoint = Endpoint(Issuer(kid="one"))
    endpoint.status = 302
    with pytest.raises(Problem):
        await endpoint.jwks.find("one", "ES256")
    assert endpoint.calls == 1


@pytest.mark.parametrize("use", ["enc", "other"])
async def test_only_signing_keys_count(use: str) -> None:
    one, two = Issuer(kid="one"), Issuer(kid="two")
    endpoint = Endpoint(one, two)
    endpoint.body["keys"][0]["use"] = use
    assert await endpoint.jwks.find("one", "ES256") is None
    assert await endpoint.jwks.find("two", "ES256") == two.key.public_key()


def test_plain_http_is_for_this_host_alone() -> None:
    for url in ("http://localhost:1/k", "http://127.0.0.1/k", "http://[::1]/k", "https://x/k"):
        Jwks(url)
    for url in ("http://id.example/k", "http://localhost.example/k", "ftp://localhost/k", "keys"):
        with pytest.raises(KeyConfigurationError):
            Jwks(url)
