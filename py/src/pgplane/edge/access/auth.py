"""Auth: who calls, out of a verified JWT and nothing else."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeGuard

import jwt
import orjson
from jwt.exceptions import (
    ExpiredSignatureError,
    ImmatureSignatureError,
    InvalidAlgorithmError,
    InvalidAudienceError,
    InvalidIssuerError,
    InvalidSignatureError,
    MissingRequiredClaimError,
    PyJWTError,
)

from pgplane.edge.access.jwks import Jwks
from pgplane.edge.access.keys import (
    KNOWN_ALGORITHMS,
    KeyConfigurationError,
    KeySource,
    NoKeys,
    StaticKey,
)
from pgplane.edge.problems import Problem
from pgplane.settings import Settings

LEEWAY_SECONDS = 5
MAX_CLAIM_LENGTH = 200
_NOT_TEXT = re.compile("[\0\ud800-\udfff]")
"""NUL, and halves of surrogate pairs."""

_REFUSALS: tuple[tuple[type[PyJWTError], str, str], ...] = (
    (ExpiredSignatureError, "TOKEN_EXPIRED", "the token has expired; get a new one"),
    (ImmatureSignatureError, "TOKEN_INVALID", "the token is not valid yet"),
    (InvalidAudienceError, "TOKEN_INVALID", "the token was issued for another audience"),
    (InvalidIssuerError, "TOKEN_INVALID", "the token was issued by somebody else"),
    (InvalidAlgorithmError, "TOKEN_INVALID", "the token's algorithm is not accepted here"),
    (InvalidSignatureError, "TOKEN_INVALID", "the token's signature is wrong"),
)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: client, person, staff flag and branches, as the issuer signed them."""

    client: str
    actor: str
    staff: bool
    scope: tuple[str, ...]
    surfaces: frozenset[str] | None = None
    """The surfaces this caller may use; None: all of them."""

    def envelope(self) -> str:
        """The envelope of this caller's jobs, as JSON text."""
        return orjson.dumps(
            {
                "client": self.client,
                "actor": self.actor,
                "staff": self.staff,
                "scope": self.scope,
            }
        ).decode()

    def enter(self, surface: str) -> None:
        """Raise Problem 403 where the token names surfaces and this is not among them."""
        if self.surfaces is not None and surface not in self.surfaces:
            raise Problem(
                403, "SURFACE_FORBIDDEN", f"this token does not reach the surface {surface}"
            )


@dataclass(frozen=True, slots=True)
class ClaimNames:
    """Which claims of a token say what."""

    client: str
    actor: str
    staff: str
    scope: str
    surfaces: str


class Verifier:
    """Turns an `Authorization` header into a `Caller`."""

    def __init__(
        self,
        keys: KeySource,
        algorithms: Sequence[str],
        audience: str | None,
        issuer: str | None,
        claims: ClaimNames,
    ) -> None:
        self._keys = keys
        self._algorithms = frozenset(algorithms)
        self._audience = audience
        self._issuer = issuer
        self._claims = claims

    @classmethod
    def from_settings(cls, settings: Settings) -> "Verifier":
        """Raises KeyConfigurationError when the `PLANE_JWT_*` settings cannot work together."""
        algorithms = settings.jwt_algorithms
        unknown = [name for name in algorithms if name not in KNOWN_ALGORITHMS]
        if unknown or not algorithms:
            raise KeyConfigurationError(
                f"PLANE_JWT_ALGORITHMS has {', '.join(unknown) or 'no entry'};"
                f" known are {', '.join(sorted(KNOWN_ALGORITHMS))}"
            )
        claims = ClaimNames(
            client=settings.jwt_client_claim,
            actor=settings.jwt_actor_claim,
            staff=settings.jwt_staff_claim,
            scope=settings.jwt_scope_claim,
            surfaces=settings.jwt_surfaces_claim,
        )
        return cls(
            _key_source(settings), algorithms, settings.jwt_audience, settings.jwt_issuer, claims
        )

    async def caller(self, authorization: str | None) -> Caller:
        """The caller that this header proves; raises Problem 401 (503: issuer unreachable)."""
        scheme, _, token = (authorization or "").partition(" ")
        token = token.strip()
        if scheme.lower() != "bearer" or not token:
            raise Problem(
                401,
                "TOKEN_MISSING",
                "send a token: Authorization: Bearer <JWT>",
                {"WWW-Authenticate": 'Bearer realm="pgplane"'},
            )
        return self._caller(await self._verified(token))

    async def close(self) -> None:
        """Stop what runs in the background."""
        if isinstance(self._keys, Jwks):
            await self._keys.close()

    async def _verified(self, token: str) -> dict[str, Any]:
        try:
            header = jwt.get_unverified_header(token)
        except (PyJWTError, ValueError):
            _refuse("TOKEN_INVALID", "this is no JWT")
        algorithm, kid = header.get("alg"), header.get("kid")
        if not isinstance(algorithm, str) or algorithm not in self._algorithms:
            _refuse("TOKEN_INVALID", "the token's algorithm is not accepted here")
        key = await self._keys.find(kid, algorithm)
        if key is None:
            _refuse("TOKEN_INVALID", "no key of this edge fits the token")
        try:
            return jwt.decode(
                token,
                key,
                algorithms=[algorithm],
                audience=self._audience,
                issuer=self._issuer,
                leeway=LEEWAY_SECONDS,
                options={"require": ["exp"]},
            )
        except MissingRequiredClaimError as error:
            _refuse("TOKEN_INVALID", f"the token has no claim {error.claim}")
        except (PyJWTError, ValueError) as error:
            for kind, code, detail in _REFUSALS:
                if isinstance(error, kind):
                    _refuse(code, detail)
            _refuse("TOKEN_INVALID", "the token cannot be read")

    def _caller(self, claims: Mapping[str, Any]) -> Caller:
        names = self._claims
        client = claims.get(names.client)
        if not _is_word(client):
            _refuse("TOKEN_INVALID", f"the token names no client (claim {names.client})")
        actor = claims.get(names.actor)
        if not _is_word(actor):
            _refuse("TOKEN_INVALID", f"the token names no person (claim {names.actor})")
        scope = claims.get(names.scope)
        if not isinstance(scope, list) or not scope or not all(map(_is_word, scope)):
            _refuse("TOKEN_INVALID", f"the token names no scope (claim {names.scope}, a list)")
        staff = claims.get(names.staff, False)
        if not isinstance(staff, bool):
            _refuse("TOKEN_INVALID", f"the token's claim {names.staff} is neither true nor false")
        surfaces = claims.get(names.surfaces)
        if surfaces is not None and (
            not isinstance(surfaces, list) or not all(map(_is_word, surfaces))
        ):
            _refuse("TOKEN_INVALID", f"the token's claim {names.surfaces} is no list of names")
        return Caller(
            client=client,
            actor=actor,
            staff=staff,
            scope=tuple(sorted(set(scope))),
            surfaces=None if surfaces is None else frozenset(surfaces),
        )


def _key_source(settings: Settings) -> KeySource:
    if settings.jwt_key and settings.jwt_jwks_url:
        raise KeyConfigurationError("set PLANE_JWT_KEY or PLANE_JWT_JWKS_URL, not both")
    if settings.jwt_key:
        return StaticKey(settings.jwt_key, settings.jwt_algorithms)
    if settings.jwt_jwks_url:
        return Jwks(settings.jwt_jwks_url)
    return NoKeys()


def _is_word(value: object) -> TypeGuard[str]:
    """A name that can be part of an identity: not empty, not endless, text that can be kept."""
    return (
        isinstance(value, str)
        and 0 < len(value) <= MAX_CLAIM_LENGTH
        and not _NOT_TEXT.search(value)
    )


def _refuse(code: str, detail: str) -> NoReturn:
    challenge = f'Bearer realm="pgplane", error="invalid_token", error_description="{detail}"'
    raise Problem(401, code, detail, {"WWW-Authenticate": challenge.replace("\n", " ")})
