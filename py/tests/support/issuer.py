"""An identity provider for tests: keys, and tokens signed with them."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from pgplane.settings import Settings

PrivateKey = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey | ed25519.Ed25519PrivateKey

AUDIENCE = "plane-tests"
NEW_KEYS: dict[str, Callable[[], PrivateKey]] = {
    "ES256": lambda: ec.generate_private_key(ec.SECP256R1()),
    "RS256": lambda: rsa.generate_private_key(public_exponent=65537, key_size=2048),
    "EdDSA": ed25519.Ed25519PrivateKey.generate,
}


class Issuer:
    """Signs tokens with a key of its own."""

    def __init__(self, algorithm: str = "ES256", kid: str | None = None) -> None:
        self.algorithm = algorithm
        self.kid = kid
        self.key = NEW_KEYS[algorithm]()

    @property
    def public_pem(self) -> str:
        """The public key, as PLANE_JWT_KEY takes it."""
        public = self.key.public_key()
        return public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()

    @property
    def jwk(self) -> dict[str, Any]:
        """The public key, as an entry of a JWK set."""
        match public := self.key.public_key():
            case ec.EllipticCurvePublicKey():
                entry = ECAlgorithm.to_jwk(public, as_dict=True)
            case rsa.RSAPublicKey():
                entry = RSAAlgorithm.to_jwk(public, as_dict=True)
            case _:
                entry = OKPAlgorithm.to_jwk(public, as_dict=True)
        return {**entry, **({"kid": self.kid} if self.kid else {}), "use": "sig"}

    def sign(self, claims: dict[str, Any], algorithm: str | None = None) -> str:
        """A token with exactly these claims."""
        headers = {"kid": self.kid} if self.kid else None
        return jwt.encode(claims, self.key, algorithm or self.algorithm, headers)

    def token(
        self,
        client: str = "acme",
        actor: str = "ann@acme.example",
        scope: Sequence[str] = ("EWR", "JFK"),
        **claims: Any,
    ) -> str:
        """A good token for five minutes; `claims` add to it or replace."""
        return self.sign(self.claims(client, actor, scope, **claims))

    def claims(
        self,
        client: str = "acme",
        actor: str = "ann@acme.example",
        scope: Sequence[str] = ("EWR", "JFK"),
        **claims: Any,
    ) -> dict[str, Any]:
        """The claims of a good token."""
        return {
            "client": client,
            "email": actor,
            "branches": list(scope),
            "aud": AUDIENCE,
            "exp": int(time.time()) + 300,
            **claims,
        }

    def bearer(self, *args: Any, **claims: Any) -> dict[str, str]:
        """The header with a good token."""
        return {"Authorization": f"Bearer {self.token(*args, **claims)}"}

    def settings(self, **settings: Any) -> Settings:
        """Settings of an edge that trusts this issuer."""
        return Settings(jwt_key=self.public_pem, jwt_audience=AUDIENCE, **settings)
