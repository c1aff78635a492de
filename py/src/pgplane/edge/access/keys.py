"""Token keys: where the key that verifies a token comes from."""

from collections.abc import Sequence
from typing import Protocol

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed448 import Ed448PublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from cryptography.x509 import load_pem_x509_certificate

PublicKey = RSAPublicKey | EllipticCurvePublicKey | Ed25519PublicKey | Ed448PublicKey
Key = PublicKey | bytes

_CURVES = {"ES256": "secp256r1", "ES384": "secp384r1", "ES512": "secp521r1", "ES256K": "secp256k1"}
_KNOWN = {*_CURVES, *(f"{kind}{bits}" for kind in ("HS", "RS", "PS") for bits in (256, 384, 512))}
KNOWN_ALGORITHMS = frozenset(_KNOWN | {"EdDSA"})
MIN_SECRET_BYTES = 32
MIN_RSA_BITS = 2048


class KeyConfigurationError(ValueError):
    """The token settings contradict each other; the message says which and what to do."""


class KeySource(Protocol):
    """Finds the key for a token's header."""

    async def find(self, kid: str | None, algorithm: str) -> Key | None:
        """The key of this id that fits the algorithm; None when there is none."""
        ...


class NoKeys:
    """No key is configured: no token can be verified."""

    async def find(self, kid: str | None, algorithm: str) -> Key | None:
        return None


class StaticKey:
    """One key out of the settings, whatever `kid` a token names."""

    def __init__(self, text: str, algorithms: Sequence[str]) -> None:
        """`text` is a PEM public key or certificate, or the shared secret of the HS algorithms.

        Raises KeyConfigurationError when the key fits none of `algorithms`, or is weak.
        """
        self._key = _load(text)
        if not any(fits(self._key, algorithm) for algorithm in algorithms):
            kind = "a shared secret" if isinstance(self._key, bytes) else "a public key"
            raise KeyConfigurationError(
                f"PLANE_JWT_KEY is {kind} that none of PLANE_JWT_ALGORITHMS"
                f" ({', '.join(algorithms)}) can use"
            )

    async def find(self, kid: str | None, algorithm: str) -> Key | None:
        return self._key if fits(self._key, algorithm) else None


def fits(key: object, algorithm: str) -> bool:
    """Whether a key is of the type (and curve) that an algorithm signs with."""
    match key:
        case bytes():
            return algorithm.startswith("HS")
        case RSAPublicKey():
            return algorithm.startswith(("RS", "PS")) and key.key_size >= MIN_RSA_BITS
        case EllipticCurvePublicKey():
            return _CURVES.get(algorithm) == key.curve.name
        case Ed25519PublicKey() | Ed448PublicKey():
            return algorithm == "EdDSA"
        case _:
            return False


def _load(text: str) -> Key:
    pem = text.strip().replace("\\n", "\n").encode()
    if not pem.startswith(b"-----BEGIN"):
        secret = text.encode()
        if len(secret) < MIN_SECRET_BYTES:
            raise KeyConfigurationError(
                f"PLANE_JWT_KEY is a secret of {len(secret)} bytes;"
                f" use at least {MIN_SECRET_BYTES} random ones"
            )
        return secret
    if b"PRIVATE KEY" in pem:
        raise KeyConfigurationError(
            "PLANE_JWT_KEY is a private key; the edge needs the public one only"
        )
    try:
        if b"CERTIFICATE" in pem:
            key: object = load_pem_x509_certificate(pem).public_key()
        else:
            key = load_pem_public_key(pem)
    except (ValueError, UnsupportedAlgorithm) as error:
        raise KeyConfigurationError("PLANE_JWT_KEY is no readable PEM public key") from error
    if not isinstance(key, PublicKey):
        raise KeyConfigurationError(
            f"PLANE_JWT_KEY is a {type(key).__name__}; RSA, EC, Ed25519 and Ed448 keys can be used"
        )
    return key
