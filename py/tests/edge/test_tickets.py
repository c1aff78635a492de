"""Tickets: what they open, and that nothing else does."""

import pytest

from pgplane.edge.access.tickets import MANY, STREAM, Purpose, SharedTickets, Tickets
from pgplane.edge.database import QueueDatabase
from pgplane.edge.problems import Problem

KEYS = ("ab" * 32, "cd" * 32)


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def tickets(clock: Clock) -> Tickets:
    return Tickets(b"a key that edges share", 180, clock)


def refused(tickets: Tickets, ticket: str, surface: str = "flights", job_id: int = 7) -> str:
    with pytest.raises(Problem) as raised:
        tickets.check(ticket, surface, [job_id], STREAM)
    assert raised.value.status == 401
    assert "WWW-Authenticate" in raised.value.headers
    return raised.value.code


@pytest.mark.parametrize("keys", [KEYS, KEYS[:1]])
def test_a_ticket_gives_its_scope_keys_back(tickets: Tickets, keys: tuple[str, ...]) -> None:
    assert (
        tickets.check(tickets.issue("flights", [7], keys, STREAM), "flights", [7], STREAM) == keys
    )


def test_every_edge_with_the_key_checks_it(tickets: Tickets, clock: Clock) -> None:
    other = Tickets(b"a key that edges share", 5, clock)
    assert other.check(tickets.issue("flights", [7], KEYS, STREAM), "flights", [7], STREAM) == KEYS


def test_a_ticket_is_for_one_job_of_one_surface(tickets: Tickets) -> None:
    ticket = tickets.issue("flights", [7], KEYS, STREAM)
    assert refused(tickets, ticket, job_id=8) == "TICKET_INVALID"
    assert refused(tickets, ticket, surface="flight") == "TICKET_INVALID"
    assert refused(tickets, ticket, surface="flightss") == "TICKET_INVALID"


def test_a_ticket_of_many_jobs_is_for_just_these(tickets: Tickets) -> None:
    ticket = tickets.issue("flights", [9, 7, 8], KEYS, MANY)
    for same in ([7, 8, 9], [8, 7, 9, 7]):
        assert tickets.check(ticket, "flights", same, MANY) == KEYS
    for other in ([], [7], [7, 8], [7, 8, 9, 10], [7, 8, 10]):
        with pytest.raises(Problem) as raised:
            tickets.check(ticket, "flights", other, MANY)
        assert (raised.value.status, raised.value.code) == (401, "TICKET_INVALID")


def test_a_ticket_is_for_one_purpose(tickets: Tickets) -> None:
    for purpose in (Purpose(0), Purpose(2), Purpose(255)):
        assert refused(tickets, tickets.issue("flights", [7], KEYS, purpose)) == "TICKET_INVALID"
        with pytest.raises(Problem) as raised:
            tickets.check(tickets.issue("flights", [7], KEYS, STREAM), "flights", [7], purpose)
        assert (raised.value.status, raised.value.code) == (401, "TICKET_INVALID")
        kept = tickets.issue("flights", [7], KEYS, purpose)
        assert tickets.check(kept, "flights", [7], purpose) == KEYS


def test_a_ticket_expires(tickets: Tickets, clock: Clock) -> None:
    ticket = tickets.issue("flights", [7], KEYS, STREAM)
    clock.now += 179
    assert tickets.check(ticket, "flights", [7], STREAM) == KEYS
    clock.now += 1
    assert refused(tickets, ticket) == "TICKET_EXPIRED"


def test_it_is_known_when_a_ticket_expires(tickets: Tickets, clock: Clock) -> None:
    clock.now += 0.5
    assert tickets.expiry().timestamp() == 1_000_181
    ticket = tickets.issue("flights", [7], KEYS, STREAM)
    clock.now = tickets.expiry().timestamp() - 0.1
    assert tickets.check(ticket, "flights", [7], STREAM) == KEYS


def test_another_key_makes_no_ticket_for_this_one(tickets: Tickets) -> None:
    assert (
        refused(tickets, Tickets(b"another", 180).issue("flights", [7], KEYS, STREAM))
        == "TICKET_INVALID"
    )


def test_no_changed_byte_is_accepted(tickets: Tickets) -> None:
    ticket = tickets.issue("timetable", [7], KEYS[:1], STREAM)
    assert len(ticket) % 4 == 0, "no bits are left over in its last character"
    for place, character in enumerate(ticket):
        changed = ticket[:place] + ("B" if character == "A" else "A") + ticket[place + 1 :]
        assert refused(tickets, changed, surface="timetable") == "TICKET_INVALID"


@pytest.mark.parametrize("ticket", ["", "x", "....", "é", "A" * 100, "A" * 100_000, "\0"])
def test_what_is_no_ticket_is_refused(tickets: Tickets, ticket: str) -> None:
    assert refused(tickets, ticket) == "TICKET_INVALID"


def test_a_ticket_may_stand_in_a_url(tickets: Tickets) -> None:
    ticket = tickets.issue("flights", [2**63 - 1], KEYS, STREAM)
    assert ticket.isascii()
    assert ticket.replace("-", "").replace("_", "").isalnum()


async def test_edges_of_one_database_share_its_key(as_edge: str) -> None:
    databases = [QueueDatabase(as_edge, 1), QueueDatabase(as_edge, 1)]
    for database in databases:
        await database.open()
    one, other = [await SharedTickets(database, None, 60).get() for database in databases]
    for database in databases:
        await database.close()
    assert other.check(one.issue("flights", [7], KEYS, STREAM), "flights", [7], STREAM) == KEYS


async def test_a_key_that_is_set_needs_no_database() -> None:
    tickets = await SharedTickets(QueueDatabase(None, 1), "set for all edges", 60).get()
    assert (
        tickets.check(tickets.issue("flights", [7], KEYS, STREAM), "flights", [7], STREAM) == KEYS
    )
