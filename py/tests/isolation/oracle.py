"""The oracle: what each caller is to be answered, in a few lines that can be agreed with."""

from dataclasses import dataclass

from .callers import OWNER, Caller, Ticket, Token
from .routes import Deed


@dataclass(frozen=True)
class Subject:
    """A job of the surface flights that the owner asked for, answered by a text of its own."""

    job_id: int
    per_actor: bool
    marker: str
    exists: bool = True


def lets_in(caller: Caller, deed: Deed, surface: str) -> int | None:
    """The status of who stays outside; None: they come in."""
    match caller.proof:
        case Token(flaw="expired" | "forged"):
            return 401
        case Token(flaw="elsewhere"):
            return 403 if surface == "flights" else None
        case Token():
            return None
        case Ticket(purpose, None) if purpose == deed.opens:
            return None if surface == "flights" else 401
        case Ticket(purpose, "elsewhere") if purpose == deed.opens:
            return None if surface == "crews" else 401
        case _:
            return 401


def sees(caller: Caller, surface: str, subject: Subject) -> bool:
    """Whether the job is the caller's to see, by this surface."""
    person = caller.person
    same = (person.client, person.scope, person.staff) == (OWNER.client, OWNER.scope, OWNER.staff)
    may = same and (person.actor == OWNER.actor or not subject.per_actor)
    return may and surface == "flights" and subject.exists


def expected(caller: Caller, deed: Deed, surface: str, subject: Subject) -> tuple[int, bool]:
    """The status, and whether the job's answer is in what comes with it."""
    outside = lets_in(caller, deed, surface)
    if outside is not None:
        return outside, False
    seen = sees(caller, surface, subject)
    if deed.of_a_job and not seen:
        return 404, False
    return deed.ok, deed.shows and seen and deed.method != "HEAD"
