"""What tests in a browser break: each deed is done, and answers come all the same after it."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator

import httpx2
import psycopg
import pytest

from ..support.edges import until
from ..support.issuer import AUDIENCE, Issuer
from ..support.oracle import broken
from ..support.sockets import PATIENCE, RawStream
from ..support.stage import LISTENERS, Deployment, client_database, deployed
from ..support.workers import QUEUE

PATH = "/api/test/q"


@pytest.fixture(scope="module")
def deployment(issuer: Issuer) -> Iterator[Deployment]:
    with deployed(
        "tests.support.workers:surface",
        QUEUE,
        client_database,
        jwt_key=issuer.public_pem,
        jwt_audience=AUDIENCE,
        sweep_seconds="3600",
        grace_seconds="1",
    ) as running:
        yield running
        with psycopg.connect(running.server.database_url("stage"), autocommit=True) as connection:
            assert broken(connection) == []


class Person:
    """Asks over the wire, and has things broken."""

    def __init__(self, http: httpx2.AsyncClient, deployment: Deployment, issuer: Issuer) -> None:
        self._http = http
        self._deployment = deployment
        self._issuer = issuer
        self._asked = 0

    async def do(self, *deeds: str) -> dict[str, bool]:
        """Have these done, one after the other; what runs then."""
        state: dict[str, bool] = {}
        for deed in deeds:
            done = await self._http.post(self._deployment.control + deed)
            assert done.status_code == 200, done.text
            state = done.json()
        return state

    async def ask(self, seconds: float = 0) -> str:
        """A question that nobody has asked; the address of its stream."""
        self._asked += 1
        params = {"seconds": seconds + self._asked / 1e6}
        question = {"operation": "slow", "params": params}
        asked: list[str] = []

        async def accepted() -> bool:
            try:
                response = await self._http.post(
                    self._deployment.url + PATH,
                    json=question,
                    headers=self._issuer.bearer(),
                )
            except httpx2.TransportError:
                return False
            if response.status_code == 202:
                asked.append(response.json()["streamUrl"])
            return bool(asked)

        await until(accepted)
        return asked[0]

    async def stream(self, url: str) -> RawStream:
        """Open the stream, as often as it takes."""
        opened: list[RawStream] = []

        async def open_it() -> bool:
            try:
                stream = await RawStream.open(self._deployment.url, url)
            except (OSError, EOFError):
                return False
            if stream.status != 200:
                stream.close()
                return False
            opened.append(stream)
            return True

        await until(open_it)
        return opened[0]

    async def answer(self, url: str) -> None:
        """Follow the stream to the answer."""
        stream = await self.stream(url)
        await ends(stream)
        stream.close()


async def ends(stream: RawStream, within: float = PATIENCE) -> None:
    """Read to the answer."""
    name = data = ""
    while name not in ("done", "error"):
        name, data = await stream.event(within)
    assert name == "done", data
    assert json.loads(data)["result"]["slept"] >= 0


@pytest.fixture
async def person(deployment: Deployment, issuer: Issuer) -> AsyncIterator[Person]:
    async with httpx2.AsyncClient(timeout=60) as http:
        person = Person(http, deployment, issuer)
        yield person
        await person.do("/wire/release")
        state = (await http.get(deployment.control + "/state")).json()
        assert (state["edge"], state["worker"], state["postgres"]) == (True, True, True)


async def test_nothing_broken(person: Person) -> None:
    await person.answer(await person.ask())


async def test_an_unknown_deed_is_refused_by_the_names_of_those_there_are(
    deployment: Deployment,
) -> None:
    async with httpx2.AsyncClient() as http:
        refused = await http.post(deployment.control + "/burn/edge")
    assert refused.status_code == 404
    assert "/kill/edge" in refused.json()["deeds"]


@pytest.mark.parametrize("end", ["/kill/worker", "/stop/worker"])
async def test_a_worker_goes_and_another_comes(person: Person, end: str) -> None:
    stream = await person.stream(await person.ask(0.5))
    assert (await stream.event())[0] in ("queued", "running")
    assert (await person.do(end))["worker"] is False
    assert (await person.do("/start/worker"))["worker"] is True
    await ends(stream)
    stream.close()


@pytest.mark.parametrize("end", ["/kill/edge", "/stop/edge"])
async def test_an_edge_goes_and_comes_back_at_its_port(person: Person, end: str) -> None:
    asked = await person.ask(3)
    stream = await person.stream(asked)
    assert (await stream.event())[0] in ("queued", "running")
    assert (await person.do(end))["edge"] is False
    with pytest.raises(EOFError):
        await ends(stream)
    stream.close()
    assert (await person.do("/start/edge"))["edge"] is True
    await person.answer(asked)


@pytest.mark.parametrize(
    "deeds", [("/restart/postgres",), ("/crash/postgres",), ("/stop/postgres", "/start/postgres")]
)
async def test_postgresql_goes_and_comes_back(person: Person, deeds: tuple[str, ...]) -> None:
    asked = await person.ask(0.5)
    stream = await person.stream(asked)
    assert (await stream.event())[0] in ("queued", "running")
    assert (await person.do(*deeds))["postgres"] is True
    await person.answer(asked)
    await person.answer(await person.ask())
    stream.close()


async def test_dropped_listeners_come_back(person: Person, deployment: Deployment) -> None:
    dropped = listeners(deployment)
    assert len(dropped) == 2
    stream = await person.stream(await person.ask(0.5))
    await person.do("/drop/listen")
    await ends(stream)
    stream.close()
    await until(lambda: len(listeners(deployment) - dropped) == 2)


def listeners(deployment: Deployment) -> set[int]:
    """The server's processes that serve connections which LISTEN."""
    url = deployment.server.database_url("postgres")
    with psycopg.connect(url, autocommit=True) as connection:
        found = connection.execute(
            "select pid from pg_stat_activity where application_name = any(%s)", [list(LISTENERS)]
        )
        return {pid for (pid,) in found}


async def test_who_reads_the_client_database_waits_while_it_is_held(
    person: Person, deployment: Deployment
) -> None:
    async with await psycopg.AsyncConnection.connect(deployment.client_url) as reader:
        await person.do("/hold/client")
        reading = asyncio.create_task(reader.execute("select from flight"))
        await until(lambda: deployment.held() == 1)
        assert not reading.done()
        await person.do("/release/client")
        assert (await reading).rowcount == 0
    assert deployment.held() == 0


async def test_a_restart_of_postgresql_ends_a_hold(person: Person, deployment: Deployment) -> None:
    await person.do("/hold/client", "/restart/postgres")
    async with await psycopg.AsyncConnection.connect(deployment.client_url) as reader:
        assert (await reader.execute("select from flight")).rowcount == 0
    await person.do("/release/client")


async def test_the_ledger_tells_what_became_of_a_job(
    person: Person, deployment: Deployment
) -> None:
    asked = await person.ask()
    await person.answer(asked)
    async with httpx2.AsyncClient() as http:
        told = (await http.get(deployment.control + "/ledger")).json()
    job = told["jobs"][str(job_id(asked))]
    assert (job["operation"], job["status"], job["attempts"]) == ("slow", "done", 1)
    assert job["result"]["slept"] >= 0
    assert told["broken"] == []


async def test_a_cut_wire_breaks_streams_and_carries_new_ones(person: Person) -> None:
    asked = await person.ask(0.5)
    stream = await person.stream(asked)
    await person.do("/wire/cut")
    with pytest.raises(EOFError):
        await ends(stream)
    await person.answer(asked)


async def test_a_held_wire_brings_the_answer_late(person: Person, deployment: Deployment) -> None:
    asked = await person.ask(0.3)
    stream = await person.stream(asked)
    assert (await stream.event())[0] in ("queued", "running")
    await person.do("/wire/hold")
    deployment.worker.event("job.finished", job_id=job_id(asked))
    with pytest.raises(TimeoutError):
        await ends(stream, within=0.2)
    await person.do("/wire/release")
    await ends(stream)
    stream.close()


async def test_a_half_open_wire_tells_nothing_and_a_new_connection_the_answer(
    person: Person, deployment: Deployment
) -> None:
    asked = await person.ask(0.3)
    stream = await person.stream(asked)
    assert (await stream.event())[0] in ("queued", "running")
    await person.do("/wire/swallow")
    deployment.worker.event("job.finished", job_id=job_id(asked))
    await person.do("/wire/release")
    await person.answer(asked)
    with pytest.raises(TimeoutError):
        await ends(stream, within=0.2)
    stream.close()


def job_id(stream_url: str) -> int:
    """The job of a stream's address."""
    return int(stream_url.removeprefix(f"{PATH}/").partition("/")[0])
