"""Tokens: what a token says about itself, or says twice, or says elsewhere, moves nobody."""

import json
import socket
from base64 import b64encode, urlsafe_b64encode
from datetime import UTC, datetime, tzinfo
from typing import Any, Self

import httpx2
import jwt.api_jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from pgplane.edge.access.auth import LEEWAY_SECONDS, ClaimNames, Verifier
from pgplane.edge.access.jwks import Jwks
from pgplane.edge.problems import Problem

from ..support.edges import ASK, QUESTION, Plane, problem
from ..support.issuer import AUDIENCE, Issuer

Header = dict[str, Any]


def compact(by: Issuer, payload: str, header: Header | None = None) -> str:
    """A token of this payload, JSON text, signed whatever its header says."""
    head = json.dumps({"alg": by.algorithm, "typ": "JWT", **(header or {})})
    signed = b".".join(_base64url(part.encode()) for part in (head, payload))
    signature = jwt.get_algorithm_by_name(by.algorithm).sign(signed, by.key)
    return b".".join((signed, _base64url(signature))).decode()


def _base64url(data: bytes) -> bytes:
    return urlsafe_b64encode(data).rstrip(b"=")


async def asked(client: httpx2.AsyncClient, token: str) -> httpx2.Response:
    """What the edge says to a question with this token."""
    headers = {"Authorization": f"Bearer {token}"}
    return await client.post(ASK, json=QUESTION, headers=headers)


# Which key --------------------------------------------------------------------------------------


def headers_that_bring_a_key(issuer: Issuer, address: str) -> list[Header]:
    """Each way in which a header may name the key that is to be believed."""
    der = issuer.key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return [
        {"jwk": issuer.jwk},
        {"jku": f"{address}/keys"},
        {"x5u": f"{address}/certificate"},
        {"x5c": [b64encode(der).decode()]},
        {"jku": f"{address}/keys", "kid": "mine"},
    ]


async def test_no_token_brings_its_own_key(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer
) -> None:
    stranger = Issuer()
    claims = json.dumps(issuer.claims())
    with socket.create_server(("127.0.0.1", 0)) as nobody_calls:
        address = f"http://127.0.0.1:{nobody_calls.getsockname()[1]}"
        for header in headers_that_bring_a_key(stranger, address):
            refused = await asked(client, compact(stranger, claims, header))
            assert problem(refused, 401)["detail"] == "the token's signature is wrong", header
            taken = await asked(client, compact(issuer, claims, header))
            assert taken.status_code == 202, "of no account in a good token either"
        nobody_calls.setblocking(False)
        with pytest.raises(BlockingIOError):
            nobody_calls.accept()
    assert plane.jobs() == 1


async def test_one_key_is_the_key_whatever_a_token_calls_it(
    client: httpx2.AsyncClient, issuer: Issuer, subtests: pytest.Subtests
) -> None:
    claims = json.dumps(issuer.claims())
    for kid in ("", "../../../../dev/null", "' or 1=1 --", "mine\n", "http://[::1]/", "k" * 4000):
        with subtests.test(kid=kid):
            problem(await asked(client, compact(Issuer(), claims, {"kid": kid})), 401)
            taken = await asked(client, compact(issuer, claims, {"kid": kid}))
            assert taken.status_code == 202
    for no_name in (7, None, True, ["one"], {"one": 1}):
        with subtests.test(kid=no_name):
            refused = await asked(client, compact(issuer, claims, {"kid": no_name}))
            assert problem(refused, 401)["code"] == "TOKEN_INVALID"


async def test_of_a_key_set_only_the_key_that_is_named_counts() -> None:
    one, two = Issuer(kid="one"), Issuer(kid="two")
    body = {"keys": [one.jwk, two.jwk]}
    transport = httpx2.MockTransport(lambda _request: httpx2.Response(200, json=body))
    verifier = Verifier(
        Jwks("https://id.example/keys", transport),
        ["ES256"],
        AUDIENCE,
        None,
        ClaimNames("client", "email", "staff", "branches", "surfaces"),
    )
    claims = json.dumps(one.claims())
    for by, kid in ((one, "one"), (two, "two")):
        token = compact(by, claims, {"kid": kid})
        assert (await verifier.caller(f"Bearer {token}")).client == "acme"
    for header in ({"kid": "two"}, {"kid": "ONE"}, {"kid": "one "}, {"kid": ""}, {}):
        with pytest.raises(Problem) as raised:
            await verifier.caller(f"Bearer {compact(one, claims, header)}")
        assert raised.value.status == 401, header
    await verifier.close()


TOO_MUCH: list[Header] = [
    {"crit": ["exp"]},
    {"crit": ["of-ours"], "of-ours": 1},
    {"crit": []},
    {"crit": "exp"},
    {"b64": False},
    {"b64": False, "crit": ["b64"]},
    {"alg": "ES384"},
    {"alg": ["ES256"]},
    {"alg": None},
]


async def test_a_header_that_asks_for_more_than_is_done_is_refused(
    client: httpx2.AsyncClient, issuer: Issuer, subtests: pytest.Subtests
) -> None:
    for header in TOO_MUCH:
        with subtests.test(header=header):
            token = compact(issuer, json.dumps(issuer.claims()), header)
            assert problem(await asked(client, token), 401)["code"] == "TOKEN_INVALID"


# What it says -----------------------------------------------------------------------------------


async def test_of_a_claim_that_comes_twice_the_last_counts(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer
) -> None:
    """So RFC 7519 allows it, and every layer behind sees what the first one saw."""
    good = json.dumps(issuer.claims(surfaces=["flights"]))[1:]
    bad = {
        '"client": "umbrella"': '"client": "acme"',
        '"branches": ["LGA"]': '"branches": ["EWR", "JFK"]',
        '"surfaces": ["crews"]': '"surfaces": ["flights"]',
        '"exp": 1': f'"exp": {issuer.claims()["exp"]}',
    }
    for early, late in bad.items():
        assert (await asked(client, compact(issuer, f"{{{early}, {good}"))).status_code == 202
        swapped = await asked(client, compact(issuer, f"{{{late}, {good[:-1]}, {early}}}"))
        if swapped.status_code == 202:
            ((envelope,),) = plane.look(
                "select envelope from plane.jobs where id = %s", swapped.json()["jobId"]
            )
            said = envelope["client"], envelope["scope"]
            assert said != ("acme", ["EWR", "JFK"]), "the last one is the envelope's"
        else:
            assert swapped.status_code in (401, 403)
    envelopes = plane.look("select distinct envelope ->> 'client' from plane.jobs order by 1")
    assert envelopes == [("acme",), ("umbrella",)]


SURFACES: list[tuple[object, int]] = [
    (["crews", "flights"], 202),
    (["flights", "flights"], 202),
    ([], 403),
    (["crews"], 403),
    (["Flights"], 403),
    (["flights "], 403),
    (["flights-dev"], 403),
    (["surface-flights"], 403),
    (["*"], 403),
    (["flights,crews"], 403),
    ([["flights"]], 401),
    ([None], 401),
    ({"flights": True}, 401),
    (True, 401),
]
"""The claim, and what a question to `flights` is answered."""


async def test_a_token_reaches_the_surfaces_that_it_lists(
    client: httpx2.AsyncClient, issuer: Issuer, subtests: pytest.Subtests
) -> None:
    for surfaces, status in SURFACES:
        with subtests.test(surfaces=surfaces):
            answered = await asked(client, issuer.token(surfaces=surfaces))
            assert answered.status_code == status


OF_ANOTHER_KIND: list[dict[str, Any]] = [
    {"client": 7},
    {"client": True},
    {"client": {"acme": 1}},
    {"client": "a" * 201},
    {"staff": 1},
    {"staff": 0},
    {"staff": "true"},
    {"staff": None},
    {"staff": [True]},
    {"branches": {"EWR": True}},
    {"branches": [["EWR"]]},
    {"branches": [True]},
    {"branches": [None]},
    {"branches": "*"},
    {"branches": True},
    {"branches": ["EWR", ""]},
    {"email": ""},
    {"email": ["ann@acme.example"]},
    {"aud": ["somebody else"]},
    {"aud": []},
    {"aud": 7},
    {"aud": f"{AUDIENCE},other"},
    {"exp": -1},
    {"exp": 1e999},
    {"exp": [9999999999]},
    {"iat": 9999999999},
    {"iat": "yesterday"},
    {"nbf": 9999999999},
    {"nbf": {}},
]


async def test_a_claim_of_another_kind_is_refused_and_asks_nothing(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer, subtests: pytest.Subtests
) -> None:
    for claims in OF_ANOTHER_KIND:
        with subtests.test(claims=claims):
            token = compact(issuer, json.dumps({**issuer.claims(), **claims}))
            problem(await asked(client, token), 401)
    assert plane.jobs() == 0


class Fixed(datetime):
    """A clock that stands still."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        return cls(2026, 1, 1, tzinfo=tz or UTC)


async def test_clocks_may_differ_by_so_much_and_no_more(
    client: httpx2.AsyncClient,
    issuer: Issuer,
    monkeypatch: pytest.MonkeyPatch,
    subtests: pytest.Subtests,
) -> None:
    now = int(Fixed.now().timestamp())
    for claim, good, bad in (
        ("exp", 1 - LEEWAY_SECONDS, -LEEWAY_SECONDS),
        ("nbf", LEEWAY_SECONDS, LEEWAY_SECONDS + 1),
        ("iat", LEEWAY_SECONDS, LEEWAY_SECONDS + 1),
    ):
        for off, status in ((good, 202), (bad, 401)):
            token = issuer.sign({**issuer.claims(), "exp": now + 300, claim: now + off})
            with subtests.test(claim=claim, off=off), monkeypatch.context() as standing_still:
                standing_still.setattr(jwt.api_jwt, "datetime", Fixed)
                assert (await asked(client, token)).status_code == status


# Where it stands --------------------------------------------------------------------------------


async def test_a_token_is_heard_in_its_header_alone(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer
) -> None:
    token = issuer.token()
    body = {**QUESTION, "params": {"access_token": token}}
    places: list[dict[str, Any]] = [
        {"params": {name: token}} for name in ("access_token", "token", "ticket", "authorization")
    ]
    places += [
        {"headers": {name: f"Bearer {token}"}}
        for name in ("Proxy-Authorization", "X-Authorization", "X-Forwarded-Authorization")
    ]
    places += [
        {"headers": {"Cookie": f"Authorization=Bearer {token}; token={token}"}},
        {"headers": {"X-Client": "acme", "X-Forwarded-User": "ann@acme.example"}},
        {"headers": {"Authorization": token}},
        {"headers": {"Authorization": f"Token {token}"}},
        {},
    ]
    for place in places:
        for method, url in (("POST", ASK), ("GET", f"{ASK}/1/stream"), ("GET", f"{ASK}/1/blob/1")):
            sent = {"json": body, **place} if method == "POST" else place
            problem(await client.request(method, url, **sent), 401)
    assert plane.jobs() == 0
