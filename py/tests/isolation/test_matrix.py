"""Isolation: every caller at every address, and no cell weaker than the rule."""

import json
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import httpx2
import pytest

from pgplane.edge.access.auth import Caller as Verified
from pgplane.edge.access.tickets import Tickets
from pgplane.edge.edge import Edge
from pgplane.edge.routes import ROUTES
from pgplane.settings import Settings

from ..support.blobs import write
from ..support.edges import ASK, MANIFEST, QUESTION, Plane, ask, in_process
from ..support.issuer import Issuer
from .callers import CALLERS, NEIGHBOURS, OWNER, PEOPLE, Caller, Person, Ticket, Token
from .oracle import Subject, expected
from .routes import DEEDS, Deed

PROBES = {"/livez", "/readyz"}
SERVED = {
    (method, route.path)
    for route in ROUTES
    if route.path not in PROBES
    for method in route.methods or ()
}
ALL_DEEDS = DEEDS + [
    replace(deed, name=f"look whether to {deed.name}", method="HEAD")
    for deed in DEEDS
    if deed.method == "GET"
]
DONE = [deed for deed in ALL_DEEDS if (deed.method, deed.path) in SERVED]


@dataclass
class Ground:
    """An edge with two surfaces, and the owner's jobs on one of them."""

    client: httpx2.AsyncClient
    parts: Edge
    issuer: Issuer
    forger: Issuer
    subjects: list[Subject]
    tickets: Tickets
    keys: dict[Person, tuple[str, ...]]

    def headers(self, person: Person, token: Token) -> dict[str, str]:
        """The header that a caller sends."""
        who = (person.client, person.actor, person.scope)
        claims: dict[str, Any] = {"staff": person.staff}
        if token.flaw == "expired":
            claims["exp"] = 1
        if token.flaw == "elsewhere":
            claims["surfaces"] = ["crews"]
        return (self.forger if token.flaw == "forged" else self.issuer).bearer(*who, **claims)

    def ticket(self, person: Person, ticket: Ticket, subject: Subject) -> str:
        """The ticket that a caller has for this."""
        another = next(other.job_id for other in self.subjects if other != subject)
        match ticket.flaw:
            case "another":
                jobs = [another]
            case "wider":
                jobs = [subject.job_id, another]
            case _:
                jobs = [subject.job_id]
        match ticket.flaw:
            case "expired":
                issuing = Tickets(self.tickets._key, 1, lambda: time.time() - 60)
            case "forged":
                issuing = Tickets(b"a key that somebody made up", 60)
            case _:
                issuing = self.tickets
        queue = "surface-crews" if ticket.flaw == "elsewhere" else "surface-flights"
        return issuing.issue(queue, jobs, self.keys[person], ticket.purpose)

    async def do(
        self, caller: Caller, deed: Deed, surface: str, subject: Subject
    ) -> httpx2.Response:
        """A caller does it."""
        headers: dict[str, str] = {}
        query: dict[str, str] = {}
        match caller.proof:
            case Token() as token:
                headers = self.headers(caller.person, token)
            case Ticket() as ticket:
                query["ticket"] = self.ticket(caller.person, ticket, subject)
        if not deed.of_a_job:
            query["jobs"] = str(subject.job_id)
        if deed.seen is not None:
            headers["Last-Event-ID"] = deed.seen.format(job_id=subject.job_id)
        address = deed.path.format(surface=surface, job_id=subject.job_id, blob=1)
        return await self.client.request(
            deed.method, address, params=query, headers=headers, json=deed.body
        )


@pytest.fixture
async def ground(plane: Plane, settings: Settings, issuer: Issuer) -> AsyncIterator[Ground]:
    plane.surface("crews")
    async with in_process(settings) as (client, parts):
        subjects = [Subject(10**6, False, "the answer to nobody", exists=False)]
        for operation in ("airlines", "mine"):
            await ask(client, issuer, operation)
            job = plane.claim()
            marker = f"the answer to {operation}"
            write(plane, job, marker.encode())
            plane.complete(job, json.dumps(marker))
            subjects.append(Subject(job[0], operation == "mine", marker))
        tickets = await parts.tickets.get()
        keys = {person: await keys_of(parts, person) for person in PEOPLE}
        yield Ground(client, parts, issuer, Issuer(), subjects, tickets, keys)


async def keys_of(parts: Edge, person: Person) -> tuple[str, ...]:
    caller = Verified(person.client, person.actor, person.staff, tuple(sorted(person.scope)))
    return await parts.access._scope_keys.of(caller)


def test_there_is_no_other_address() -> None:
    assert {(deed.method, deed.path) for deed in ALL_DEEDS} >= SERVED
    assert len(DONE) >= len(ALL_DEEDS) - 2
    assert {operation["name"]: operation["per_actor"] for operation in MANIFEST} == {
        "airlines": False,
        "mine": True,
    }


@pytest.mark.parametrize("deed", DONE, ids=lambda deed: deed.name)
async def test_no_cell_is_weaker_than_the_rule(ground: Ground, deed: Deed) -> None:
    subjects = ground.subjects if deed.of_a_job or deed.shows else ground.subjects[:1]
    wrong: list[str] = []
    none: set[tuple[bytes, str]] = set()
    for caller in CALLERS:
        for surface in ("flights", "crews"):
            for subject in subjects:
                response = await ground.do(caller, deed, surface, subject)
                status, shown = expected(caller, deed, surface, subject)
                # a server sends no body to a HEAD, whatever the app gives it
                body = b"" if deed.method == "HEAD" else response.content
                markers = [other for other in subjects if other.marker.encode() in body]
                if (response.status_code, markers) != (status, [subject] if shown else []):
                    wrong.append(f"{caller} {surface} {subject}: {response.status_code} {body!r}")
                if response.status_code == 404:
                    none.add((response.content, " ".join(sorted(response.headers))))
    assert wrong == []
    assert len(none) <= 1, "nothing tells what is not the caller's from what is not"


@pytest.mark.parametrize("operation", ["airlines", "mine"])
async def test_callers_share_a_job_exactly_where_they_may_see_the_same(
    ground: Ground, operation: str
) -> None:
    by_surface: list[set[str]] = []
    for surface in ("flights", "crews"):
        jobs: dict[tuple[object, ...], set[str]] = {}
        for person in PEOPLE:
            response = await ground.client.post(
                f"/api/{surface}/q",
                json={**QUESTION, "operation": operation},
                headers=ground.headers(person, Token()),
            )
            actor = person.actor if operation == "mine" else None
            who = (person.client, person.scope, person.staff, actor)
            jobs.setdefault(who, set()).add(response.json()["jobId"])
        assert all(len(shared) == 1 for shared in jobs.values())
        by_surface.append(set.union(*jobs.values()))
        assert len(by_surface[-1]) == len(jobs)
    assert by_surface[0].isdisjoint(by_surface[1])


async def test_nobody_ends_a_job_that_is_not_theirs(ground: Ground, plane: Plane) -> None:
    asked = await ask(ground.client, ground.issuer, "mine")
    subject = Subject(int(asked["jobId"]), True, "")
    leave = next(deed for deed in DEEDS if deed.name == "leave")
    look = "select status from plane.jobs where id = %s"
    for caller in CALLERS:
        if caller.person != OWNER or caller.proof != Token():
            for surface in ("flights", "crews"):
                await ground.do(caller, leave, surface, subject)
    await ground.do(Caller(OWNER, Token()), leave, "crews", subject)
    assert plane.look(look, subject.job_id) == [("pending",)]
    await ground.do(Caller(OWNER, Token()), leave, "flights", subject)
    assert plane.look(look, subject.job_id) == [("cancelled",)]


async def test_what_is_asked_for_by_a_ticket_is_no_more_than_its_holder_could(
    ground: Ground,
) -> None:
    """A ticket that the edge itself issues opens for each what their header opens."""
    for person in NEIGHBOURS:
        headers = ground.headers(person, Token())
        for subject in ground.subjects:
            url = f"{ASK}/{subject.job_id}"
            by_header = (await ground.client.get(url, headers=headers)).status_code
            issued = await ground.client.post(f"{url}/ticket", headers=headers)
            assert issued.status_code == by_header
            if by_header == 200:
                body = issued.json()
                for address in (
                    body["streamUrl"],
                    f"{url}/blob/1?ticket={body['blobTicket']}",
                ):
                    response = await ground.client.get(address)
                    assert response.status_code == 200
                    assert subject.marker.encode() in response.content
                swapped = body["streamUrl"].partition("ticket=")[2]
                refused = await ground.client.get(f"{url}/blob/1?ticket={swapped}")
                assert refused.status_code == 401


async def test_a_ticket_of_many_jobs_opens_just_those(ground: Ground) -> None:
    """Every set of jobs that it may be issued for, against every set that may be asked for."""
    headers = ground.headers(OWNER, Token())
    job_ids = [str(subject.job_id) for subject in ground.subjects]
    sets = [chosen for size in (1, 2, 3) for chosen in combinations(job_ids, size)]
    for issued_for in sets:
        named = ",".join(reversed(issued_for))
        issued = await ground.client.post(f"/api/flights/ticket?jobs={named}", headers=headers)
        ticket = issued.json()["streamUrl"].partition("ticket=")[2].partition("&")[0]
        for asked_for in sets:
            url = f"/api/flights/stream?ticket={ticket}&jobs={','.join(asked_for)}"
            response = await ground.client.get(url)
            if asked_for != issued_for:
                assert response.status_code == 401, (issued_for, asked_for)
                continue
            assert response.status_code == 200
            for subject in ground.subjects:
                is_told = str(subject.job_id) in asked_for and subject.exists
                assert (subject.marker in response.text) is is_told
