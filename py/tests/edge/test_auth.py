"""Who a token says is calling, and every token that says nothing."""

import base64
import hmac
import json
import time
from hashlib import sha256
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from pgplane.edge.access.auth import Caller, Verifier
from pgplane.edge.access.keys import KeyConfigurationError
from pgplane.edge.problems import Problem
from pgplane.settings import Settings

from ..support.issuer import AUDIENCE, NEW_KEYS, Issuer

SECRET = "not so secret, but long enough to be one"


@pytest.fixture
def verifier(issuer: Issuer) -> Verifier:
    return Verifier.from_settings(issuer.settings())


async def refusal(verifier: Verifier, token: str) -> Problem:
    with pytest.raises(Problem) as raised:
        await verifier.caller(f"Bearer {token}")
    problem = raised.value
    assert problem.status == 401
    assert problem.headers["WWW-Authenticate"].startswith('Bearer realm="pgplane"')
    return problem


async def test_a_good_token_names_its_caller(issuer: Issuer, verifier: Verifier) -> None:
    token = issuer.token(scope=["JFK", "EWR", "JFK"], staff=True, surfaces=["flights"])
    assert await verifier.caller(f"bearer  {token}") == Caller(
        "acme", "ann@acme.example", True, ("EWR", "JFK"), frozenset({"flights"})
    )


async def test_a_caller_is_no_staff_unless_told(issuer: Issuer, verifier: Verifier) -> None:
    caller = await verifier.caller(f"Bearer {issuer.token()}")
    assert (caller.staff, caller.surfaces) == (False, None)
    assert json.loads(caller.envelope()) == {
        "client": "acme",
        "actor": "ann@acme.example",
        "staff": False,
        "scope": ["EWR", "JFK"],
    }


@pytest.mark.parametrize("algorithm", list(NEW_KEYS))
async def test_each_asymmetric_algorithm_works(algorithm: str) -> None:
    issuer = Issuer(algorithm)
    verifier = Verifier.from_settings(issuer.settings())
    assert (await verifier.caller(f"Bearer {issuer.token()}")).client == "acme"


async def test_claims_may_have_other_names(issuer: Issuer) -> None:
    settings = issuer.settings(
        jwt_client_claim="tenant", jwt_actor_claim="sub", jwt_scope_claim="sites"
    )
    token = issuer.token(tenant="umbrella", sub="u1", sites=["x"])
    caller = await Verifier.from_settings(settings).caller(f"Bearer {token}")
    assert (caller.client, caller.actor, caller.scope) == ("umbrella", "u1", ("x",))


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer ", "Basic YTpi"])
async def test_no_token_is_told_apart(verifier: Verifier, header: str | None) -> None:
    with pytest.raises(Problem) as raised:
        await verifier.caller(header)
    assert (raised.value.status, raised.value.code) == (401, "TOKEN_MISSING")
    assert raised.value.headers == {"WWW-Authenticate": 'Bearer realm="pgplane"'}


@pytest.mark.parametrize(
    ("claims", "detail"),
    [
        ({"exp": int(time.time()) - 60}, "the token has expired; get a new one"),
        ({"exp": None}, "the token has no claim exp"),
        ({"exp": "soon"}, "the token cannot be read"),
        ({"nbf": int(time.time()) + 86_400}, "the token is not valid yet"),
        ({"aud": "somebody else"}, "the token was issued for another audience"),
        ({"aud": None}, "the token has no claim aud"),
        ({"client": ""}, "the token names no client (claim client)"),
        ({"client": "a\0b"}, "the token names no client (claim client)"),
        ({"client": "a\ud800b"}, "the token names no client (claim client)"),
        ({"client": ["acme"]}, "the token names no client (claim client)"),
        ({"branches": []}, "the token names no scope (claim branches, a list)"),
        ({"branches": "JFK"}, "the token names no scope (claim branches, a list)"),
        ({"branches": ["JFK", 1]}, "the token names no scope (claim branches, a list)"),
        ({"branches": [""]}, "the token names no scope (claim branches, a list)"),
        ({"staff": "yes"}, "the token's claim staff is neither true nor false"),
        ({"email": 7}, "the token names no person (claim email)"),
        ({"email": None}, "the token names no person (claim email)"),
        ({"surfaces": "flights"}, "the token's claim surfaces is no list of names"),
    ],
)
async def test_a_token_with_wrong_claims_is_refused(
    issuer: Issuer, verifier: Verifier, claims: dict[str, Any], detail: str
) -> None:
    merged = {k: v for k, v in issuer.claims(**claims).items() if v is not None}
    assert (await refusal(verifier, issuer.sign(merged))).detail == detail


async def test_an_expired_token_has_a_code_of_its_own(issuer: Issuer, verifier: Verifier) -> None:
    problem = await refusal(verifier, issuer.token(exp=int(time.time()) - 60))
    assert problem.code == "TOKEN_EXPIRED"


@pytest.mark.parametrize("missing", ["client", "branches"])
async def test_without_client_or_scope_nobody_calls(
    issuer: Issuer, verifier: Verifier, missing: str
) -> None:
    claims = issuer.claims()
    del claims[missing]
    assert f"(claim {missing}" in (await refusal(verifier, issuer.sign(claims))).detail


async def test_the_issuer_is_checked_where_one_is_set(issuer: Issuer) -> None:
    verifier = Verifier.from_settings(issuer.settings(jwt_issuer="https://id.example"))
    assert (await verifier.caller(f"Bearer {issuer.token(iss='https://id.example')}")).client
    problem = await refusal(verifier, issuer.token(iss="https://evil.example"))
    assert problem.detail == "the token was issued by somebody else"
    assert (await refusal(verifier, issuer.token())).detail == "the token has no claim iss"


async def test_a_token_for_an_audience_is_refused_where_none_is_set(issuer: Issuer) -> None:
    verifier = Verifier.from_settings(Settings(jwt_key=issuer.public_pem))
    assert "another audience" in (await refusal(verifier, issuer.token())).detail


async def test_another_key_does_not_sign_for_this_one(verifier: Verifier) -> None:
    problem = await refusal(verifier, Issuer().token())
    assert problem.detail == "the token's signature is wrong"


async def test_a_changed_token_is_refused(issuer: Issuer, verifier: Verifier) -> None:
    head, _, signature = issuer.token().split(".")
    forged = base64.urlsafe_b64encode(json.dumps(issuer.claims("umbrella")).encode())
    token = f"{head}.{forged.rstrip(b'=').decode()}.{signature}"
    assert (await refusal(verifier, token)).detail == "the token's signature is wrong"


@pytest.mark.parametrize("name", ["none", "None", "NONE", "nOnE"])
async def test_alg_none_is_refused(issuer: Issuer, verifier: Verifier, name: str) -> None:
    head = base64.urlsafe_b64encode(json.dumps({"alg": name, "typ": "JWT"}).encode())
    _, claims, _ = issuer.token().split(".")
    token = f"{head.rstrip(b'=').decode()}.{claims}."
    problem = await refusal(verifier, token)
    assert problem.detail == "the token's algorithm is not accepted here"


async def test_an_unsigned_token_is_refused(issuer: Issuer, verifier: Verifier) -> None:
    head, claims, _ = issuer.token().split(".")
    await refusal(verifier, f"{head}.{claims}.")
    await refusal(verifier, f"{head}.{claims}")


@pytest.mark.parametrize("algorithms", ["ES256", "ES256,HS256"])
async def test_a_public_key_is_never_a_shared_secret(issuer: Issuer, algorithms: str) -> None:
    head = _b64({"alg": "HS256", "typ": "JWT"})
    signed = f"{head}.{_b64(issuer.claims())}"
    settings = issuer.settings(jwt_algorithms=algorithms)
    verifier = Verifier.from_settings(settings)
    for key in (issuer.public_pem, issuer.public_pem.strip()):
        mac = hmac.digest(key.encode(), signed.encode(), sha256)
        token = f"{signed}.{base64.urlsafe_b64encode(mac).rstrip(b'=').decode()}"
        await refusal(verifier, token)


async def test_a_shared_secret_works_only_where_hs256_is_named() -> None:
    settings = Settings(jwt_key=SECRET, jwt_algorithms=("HS256",), jwt_audience=AUDIENCE)
    token = jwt.encode(Issuer().claims(), SECRET, "HS256")
    assert (await Verifier.from_settings(settings).caller(f"Bearer {token}")).client == "acme"
    with pytest.raises(KeyConfigurationError, match="shared secret that none of"):
        Verifier.from_settings(Settings(jwt_key=SECRET))


@pytest.mark.parametrize("token", ["x", "a.b.c", "é.é.é", "." * 5, "A" * 5000, "e30.e30.e30"])
async def test_what_is_no_token_is_refused(verifier: Verifier, token: str) -> None:
    await refusal(verifier, token)


async def test_without_a_key_every_call_is_refused(issuer: Issuer) -> None:
    problem = await refusal(Verifier.from_settings(Settings()), issuer.token())
    assert problem.detail == "no key of this edge fits the token"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"jwt_key": "short", "jwt_algorithms": "HS256"}, "secret of 5 bytes"),
        ({"jwt_key": "-----BEGIN PUBLIC KEY-----\nxx\n"}, "no readable PEM public key"),
        ({"jwt_algorithms": "none"}, "PLANE_JWT_ALGORITHMS has none"),
        ({"jwt_algorithms": ""}, "PLANE_JWT_ALGORITHMS has no entry"),
        ({"jwt_jwks_url": "http://id.example/keys"}, "must be https"),
        ({"jwt_key": SECRET, "jwt_jwks_url": "https://id.example/keys"}, "not both"),
    ],
)
def test_settings_that_cannot_work_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(KeyConfigurationError, match=message):
        Verifier.from_settings(Settings(**settings))


def test_a_private_or_weak_key_is_no_setting() -> None:
    private = Issuer().key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    with pytest.raises(KeyConfigurationError, match="private key"):
        Verifier.from_settings(Settings(jwt_key=private.decode()))
    weak = rsa.generate_private_key(public_exponent=65537, key_size=1024).public_key()
    pem = weak.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    with pytest.raises(KeyConfigurationError, match="none of"):
        Verifier.from_settings(Settings(jwt_key=pem))


def test_a_caller_enters_only_the_surfaces_of_its_token() -> None:
    caller = Caller("acme", "ann", False, ("JFK",), frozenset({"flights"}))
    caller.enter("flights")
    with pytest.raises(Problem) as raised:
        caller.enter("crews")
    assert (raised.value.status, raised.value.code) == (403, "SURFACE_FORBIDDEN")


def _b64(document: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(document).encode()).rstrip(b"=").decode()
