"""The demo's identity provider: one key pair, and tokens for a handful of people.

In a deployment the tokens come from whoever knows your users; the edge needs their public key only.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

AUDIENCE = "flights"
ISSUER = "pgplane-demo"
_TOKEN_SECONDS = 24 * 3600
_ALL = ("EWR", "JFK", "LGA")


@dataclass(frozen=True)
class Person:
    """Somebody with a token.

    Attributes:
        name: given name, for the story.
        client: whose employee; two clients never share anything.
        scope: the origin airports this person may see.
        staff: sees all of them.
        token: signed JWT, valid for a day.
    """

    name: str
    client: str
    scope: tuple[str, ...]
    staff: bool
    token: str

    @property
    def label(self) -> str:
        """Name, client and what this person may see."""
        sees = "staff, sees all" if self.staff else ", ".join(self.scope)
        return f"{self.name} ({self.client}: {sees})"


@dataclass(frozen=True)
class People:
    """Everybody in the demo.

    Attributes:
        ada, ben: the same client, the same scope: they share questions and answers.
        cleo: the same client, one airport only.
        dana: another client, the scope of Ada and Ben.
        eve: staff of the first client.
        public_key: PEM; verifies all tokens.
    """

    ada: Person
    ben: Person
    cleo: Person
    dana: Person
    eve: Person
    public_key: str

    def everybody(self) -> tuple[Person, ...]:
        return self.ada, self.ben, self.cleo, self.dana, self.eve


def people() -> People:
    """Make a key pair and sign a token for everybody; the private key is forgotten."""
    key = ec.generate_private_key(ec.SECP256R1())

    def person(name: str, client: str, scope: tuple[str, ...], *, staff: bool = False) -> Person:
        now = int(time.time())
        claims = {
            "iss": ISSUER,
            "aud": AUDIENCE,
            "iat": now,
            "exp": now + _TOKEN_SECONDS,
            "client": client,
            "email": f"{name.lower()}@{client}.example",
            "staff": staff,
            "branches": list(scope),
            "surfaces": ["flights"],
        }
        return Person(name, client, scope, staff, jwt.encode(claims, key, algorithm="ES256"))

    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return People(
        ada=person("Ada", "northwind", _ALL),
        ben=person("Ben", "northwind", _ALL),
        cleo=person("Cleo", "northwind", ("LGA",)),
        dana=person("Dana", "contoso", _ALL),
        eve=person("Eve", "northwind", ("EWR",), staff=True),
        public_key=public.decode("ascii"),
    )


def write_users(everybody: People, file: Path) -> None:
    """Write `users.json` for the page: a list of {label, token, client, scope, staff}."""
    users = [
        {
            "label": person.label,
            "token": person.token,
            "client": person.client,
            "scope": list(person.scope),
            "staff": person.staff,
        }
        for person in everybody.everybody()
    ]
    file.write_text(json.dumps(users, indent=2), encoding="utf-8")
