"""Blobs: bytes are read by the job that has them, or has been given them, and by no other way."""

import json
from dataclasses import dataclass
from itertools import product

import httpx2
import psycopg
import pytest

from ..support.blobs import write
from ..support.edges import QUESTION, Plane, problem
from ..support.issuer import Issuer
from .callers import NEIGHBOURS, Person

SURFACES = ("flights", "crews")
OPERATIONS = ("airlines", "mine")


@dataclass(frozen=True)
class Asker:
    """Who asks what, where."""

    surface: str
    operation: str
    person: Person

    @property
    def key(self) -> tuple[object, ...]:
        """The oracle: blobs are shared exactly where this is equal."""
        actor = self.person.actor if self.operation == "mine" else None
        return self.surface, self.person.client, self.person.scope, self.person.staff, actor


ASKERS = [Asker(*who) for who in product(SURFACES, OPERATIONS, NEIGHBOURS)]


class Ground:
    """An edge with two surfaces, and the worker's part, played by hand."""

    def __init__(self, http: httpx2.AsyncClient, plane: Plane, issuer: Issuer) -> None:
        self._http = http
        self.plane = plane
        self._issuer = issuer

    async def claimed(self, asker: Asker, n: int) -> tuple[int, int]:
        """A job of this asker, claimed: its id and its attempt."""
        response = await self._http.post(
            f"/api/{asker.surface}/q",
            json={**QUESTION, "operation": asker.operation, "params": {"n": n}},
            headers=self._headers(asker.person),
        )
        job = self.plane.claim(asker.surface)
        assert str(job[0]) == response.json()["jobId"]
        return job

    async def get(
        self, surface: str, person: Person, job_id: int, number: object
    ) -> httpx2.Response:
        """What somebody is answered who asks for a blob."""
        url = f"/api/{surface}/q/{job_id}/blob/{number}"
        return await self._http.get(url, headers=self._headers(person))

    def share(self, job: tuple[int, int], origin: int) -> bool:
        """Complete a job by what another one computed; whether the ledger took that."""
        try:
            ((completed,),) = self.plane.look(
                "select plane.complete_job(%s, %s, '1', p_cache => 'hit', p_blobs_of => %s)",
                *job,
                origin,
            )
        except psycopg.Error as error:
            assert error.sqlstate == "PL404"  # noqa: PT017 - whether it is raised is the question
            return False
        assert completed
        return True

    def _headers(self, person: Person) -> dict[str, str]:
        who = (person.client, person.actor, person.scope)
        return self._issuer.bearer(*who, staff=person.staff)


@pytest.fixture
def ground(client: httpx2.AsyncClient, plane: Plane, issuer: Issuer) -> Ground:
    plane.surface("crews")
    return Ground(client, plane, issuer)


async def test_blobs_are_given_to_jobs_of_one_key_and_read_by_who_sees_those(
    ground: Ground,
) -> None:
    origins: list[tuple[Asker, int]] = []
    for asker in ASKERS:
        job = await ground.claimed(asker, 1)
        write(ground.plane, job, f"bytes of {asker.key}".encode())
        ground.plane.complete(job, "1")
        origins.append((asker, job[0]))

    given: list[tuple[Asker, int]] = []
    for asker in ASKERS:
        job = await ground.claimed(asker, 2)
        strangers = [(other, at) for other, at in origins if other.key != asker.key]
        of_one_key = [at for other, at in origins if other.key == asker.key]
        assert [other for other, at in strangers if ground.share(job, at)] == []
        assert ground.share(job, of_one_key[-1]), "and a refusal leaves the job as it was"
        given.append((asker, job[0]))

    for (asker, job_id), surface, person in product(origins + given, SURFACES, NEIGHBOURS):
        reader = Asker(surface, asker.operation, person)
        response = await ground.get(surface, person, job_id, 1)
        if reader.key == asker.key:
            assert response.content == f"bytes of {asker.key}".encode()
        else:
            assert problem(response, 404)["code"] == "NOT_FOUND"


async def test_a_job_that_is_not_done_has_no_blobs_to_give(ground: Ground) -> None:
    ann = ASKERS[0]
    unfinished = await ground.claimed(ann, 1)
    write(ground.plane, unfinished, b"not yet")
    job = await ground.claimed(ann, 2)
    assert not ground.share(job, unfinished[0])
    assert not ground.share(job, job[0]), "not even its own"
    assert not ground.share(job, 10**9)
    ground.plane.complete(unfinished, "1")
    assert ground.share(job, unfinished[0])


async def test_a_reference_that_somebody_made_up_opens_nothing(ground: Ground) -> None:
    ann, *others = ASKERS[: len(NEIGHBOURS)]
    origin = await ground.claimed(ann, 1)
    number = write(ground.plane, origin, b"of ann")
    ground.plane.complete(origin, json.dumps({"blobRef": {"blob": number}}))
    forged = {"blob": number, "jobId": str(origin[0]), "job_id": origin[0], "blobs_of": origin[0]}
    for asker in (ann, *others):
        job = await ground.claimed(asker, 2)
        result = {"blobRef": forged, "blobs_of": origin[0], "url": f"/q/{origin[0]}/blob/{number}"}
        ground.plane.complete(job, json.dumps(result))
        for guess in (number, origin[0], *range(4)):
            response = await ground.get(asker.surface, asker.person, job[0], guess)
            assert problem(response, 404)["code"] == "NOT_FOUND"
        read = await ground.get(asker.surface, asker.person, origin[0], number)
        assert (read.status_code == 200) is (asker.key == ann.key)
