"""Callers: who comes, and with what in hand."""

from dataclasses import dataclass, replace
from itertools import product

from pgplane.edge.access.tickets import BLOB, MANY, STREAM, Purpose


@dataclass(frozen=True)
class Person:
    """What a token says of somebody."""

    client: str
    scope: tuple[str, ...]
    staff: bool
    actor: str


PEOPLE = [
    Person(*claims)
    for claims in product(
        ("acme", "umbrella"),
        (("EWR", "JFK"), ("JFK",)),
        (False, True),
        ("ann@acme.example", "bob@acme.example"),
    )
]
OWNER = PEOPLE[0]
NEIGHBOURS = [
    OWNER,
    replace(OWNER, client="umbrella"),
    replace(OWNER, scope=("JFK",)),
    replace(OWNER, staff=True),
    replace(OWNER, actor="bob@acme.example"),
]
"""Who asked, and those who differ from that in one thing."""


@dataclass(frozen=True)
class Token:
    """A header; flaws: `expired`, `elsewhere` (for the surface crews alone), `forged`."""

    flaw: str | None = None


@dataclass(frozen=True)
class Ticket:
    """A parameter of the address, for one purpose; flaws: `expired`, `elsewhere` (crews again),
    `forged`, and `another` or `wider`, for a job that is the same person's, or for that one too."""

    purpose: Purpose
    flaw: str | None = None


@dataclass(frozen=True)
class Caller:
    """A person, who holds a token, a ticket or nothing."""

    person: Person
    proof: Token | Ticket | None


CALLERS = [
    Caller(OWNER, None),
    *(
        Caller(person, Token(flaw))
        for person in PEOPLE
        for flaw in (None, "expired", "elsewhere", "forged")
    ),
    *(
        Caller(person, Ticket(purpose, flaw))
        for person in NEIGHBOURS
        for purpose in (STREAM, BLOB, MANY)
        for flaw in (None, "expired", "elsewhere", "forged", "another", "wider")
    ),
]
