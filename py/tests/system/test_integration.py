"""Edge, worker and databases as in life: real processes, real HTTP, one question or fifty."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import httpx2
import jwt
import psycopg
import pytest

from ..conftest import ClientDatabase
from ..support import workers
from ..support.browsers import Browser, EdgeProcess, edge_process
from ..support.issuer import Issuer
from ..support.postgres import Server, install_plane
from ..support.workers import QUEUE, Worker

SURFACE = "test"


@pytest.fixture
def ledger(queue_db: str) -> Iterator[psycopg.Connection]:
    """The queue database as an onlooker with every right; the surface has its queue."""
    with psycopg.connect(queue_db, autocommit=True) as connection:
        connection.execute("select plane.create_queue(%s, p_backoff => '0 s')", [QUEUE])
        yield connection


@pytest.fixture
def edge(ledger: psycopg.Connection, as_edge: str, issuer: Issuer) -> Iterator[EdgeProcess]:
    with edge_process(issuer, queue_url=as_edge) as running:
        running.process.event("listener.ready")
        yield running


@pytest.fixture
def worker(
    ledger: psycopg.Connection, as_worker: str, client_db: ClientDatabase
) -> Iterator[Worker]:
    with workers.running(as_worker, client_db.reader) as running:
        yield running


@pytest.fixture
async def http(edge: EdgeProcess) -> AsyncIterator[httpx2.AsyncClient]:
    async with edge.connections() as connections:
        yield connections


def browser(http: httpx2.AsyncClient, edge: EdgeProcess, *identity: Any) -> Browser:
    """Somebody with a good token: client, actor and scope as `Issuer.token` takes them."""
    return Browser(http, SURFACE, edge.issuer.bearer(*identity))


def jobs(ledger: psycopg.Connection) -> int:
    row = ledger.execute("select count(*) from plane.jobs").fetchone()
    assert row is not None
    return int(row[0])


# Sharing answers, and not sharing them -----------------------------------------------------------


async def test_fifty_identical_questions_are_one_execution_and_fifty_answers(
    ledger: psycopg.Connection, edge: EdgeProcess, worker: Worker, http: httpx2.AsyncClient
) -> None:
    users = [browser(http, edge, "acme", f"user{n}@acme.example") for n in range(10)]

    async def ask_and_listen(user: Browser) -> tuple[bool, tuple[str, dict[str, Any]]]:
        asked = await user.ask("slow", seconds=1)
        return asked["coalesced"], await user.answer(asked)

    answers = await asyncio.gather(*(ask_and_listen(user) for user in users for _ in range(5)))

    assert sorted(coalesced for coalesced, _ in answers) == [False] + [True] * 49
    assert {name for _, (name, _) in answers} == {"done"}
    assert [data["result"] for _, (_, data) in answers] == [{"slept": 1.0}] * 50
    assert ledger.execute("select dequeue_count from plane.jobs").fetchall() == [(1,)]
    assert sum('"job.started"' in line for line in worker.said) == 1


@pytest.mark.parametrize(
    "other",
    [("acme", "bob@acme.example", ("LGA",)), ("umbrella", "ann@umbrella.example", ("EWR", "JFK"))],
    ids=["another scope", "another client"],
)
async def test_others_have_an_execution_of_their_own_and_cannot_read_this_one(
    ledger: psycopg.Connection,
    edge: EdgeProcess,
    worker: Worker,
    http: httpx2.AsyncClient,
    other: tuple[str, str, tuple[str, ...]],
) -> None:
    ann = browser(http, edge, "acme", "ann@acme.example", ("EWR", "JFK"))
    bob = browser(http, edge, *other)

    mine, theirs = await asyncio.gather(ann.ask("slow", seconds=0.2), bob.ask("slow", seconds=0.2))
    await asyncio.gather(ann.answer(mine), bob.answer(theirs))

    assert (mine["coalesced"], theirs["coalesced"]) == (False, False)
    assert jobs(ledger) == 2
    assert (await ann.poll(mine["jobId"])).json()["result"] == {"slept": 0.2}
    for stranger, job in ((bob, mine), (ann, theirs)):
        refused = await stranger.poll(job["jobId"])
        assert (refused.status_code, refused.json()["code"]) == (404, "NO_SUCH_JOB")
    foreign_ticket = mine["streamUrl"].replace(mine["jobId"], theirs["jobId"], 1)
    assert (await http.get(foreign_ticket)).status_code == 401


async def test_a_refusal_of_the_handler_is_an_answer(
    edge: EdgeProcess, worker: Worker, http: httpx2.AsyncClient
) -> None:
    ann = browser(http, edge)
    name, data = await ann.answer(await ann.ask("echo", word="nobody"))
    assert (name, data["status"], data["code"]) == ("error", 404, "NO_SUCH_WORD")


async def test_an_answer_can_be_waited_for_polled_and_is_not_sent_twice(
    edge: EdgeProcess, worker: Worker, http: httpx2.AsyncClient
) -> None:
    ann = browser(http, edge)
    asked = await ann.ask("echo", word="hello")
    name, data = await ann.answer(asked)

    assert (name, data["result"]) == ("done", {"word": "hello", "client": "acme"})
    assert (await ann.poll(asked["jobId"])).json()["result"] == data["result"]
    seen = {"Last-Event-ID": f"{asked['jobId']}.end"}
    assert (await http.get(asked["streamUrl"], headers=seen)).status_code == 204

    question = {"operation": "echo", "params": {"word": "again"}}
    waited = await ann.post(question, Prefer="wait=10")
    assert (waited.status_code, waited.json()["result"]["word"]) == (200, "again")


# Death -------------------------------------------------------------------------------------------


async def test_a_killed_workers_question_is_answered_by_another_attempt(
    ledger: psycopg.Connection,
    edge: EdgeProcess,
    http: httpx2.AsyncClient,
    as_worker: str,
    client_db: ClientDatabase,
) -> None:
    ledger.execute("select plane.create_queue(%s, p_lease => '1 s')", [QUEUE])
    ann = browser(http, edge)

    with workers.running(as_worker, client_db.reader) as first:
        asked = await ann.ask("slow", seconds=2)
        listening = asyncio.create_task(ann.answer(asked))
        job_id = int(asked["jobId"])
        await asyncio.to_thread(first.event, "job.started", job_id=job_id)
        first.kill()
    with workers.running(as_worker, client_db.reader) as second:
        started = await asyncio.to_thread(second.event, "job.started", job_id=job_id)
        late = ledger.execute("select plane.complete_job(%s, 1, '\"too late\"')", [job_id])
        assert late.fetchone() == (False,)
        name, data = await listening

    assert started["attempt"] == 2
    assert (name, data["result"]) == ("done", {"slept": 2.0})


async def test_processes_whose_log_is_gone_still_answer(
    edge: EdgeProcess, worker: Worker, http: httpx2.AsyncClient
) -> None:
    edge.process.break_log()
    worker.break_log()
    ann = browser(http, edge)
    for word in ("one", "two", "three"):
        name, data = await ann.answer(await ann.ask("echo", word=word))
        assert (name, data["result"]["word"]) == ("done", word)


async def test_an_edge_without_its_database_says_so_and_recovers(
    ledger: psycopg.Connection, issuer: Issuer
) -> None:
    with Server() as server:
        url = server.database_url("queue")
        with psycopg.connect(server.database_url("postgres"), autocommit=True) as connection:
            connection.execute("create database queue")
        install_plane(url)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("select plane.create_queue(%s)", [QUEUE])
        with edge_process(issuer, queue_url=url) as edge:
            edge.process.event("listener.ready")
            server.terminate()
            async with edge.connections() as http:
                await assert_unavailable(browser(http, edge), http)
                server.start()
                edge.process.event("listener.ready")
                asked = await browser(http, edge).post({"operation": "echo"})
                assert (asked.status_code, asked.json()["code"]) == (503, "NOT_READY")
                assert (await http.get("/readyz")).status_code == 200


async def test_an_edge_that_never_had_a_database_says_so(issuer: Issuer) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        nobody = taken.getsockname()[1]
    for settings in ({}, {"queue_url": f"postgresql://edge@127.0.0.1:{nobody}/queue"}):
        with edge_process(issuer, **settings) as edge:
            async with edge.connections() as http:
                await assert_unavailable(browser(http, edge), http)


async def assert_unavailable(ann: Browser, http: httpx2.AsyncClient) -> None:
    """Alive, not ready, and each question is refused with a word on when to come back."""
    refused = await ann.post({"operation": "echo", "params": {}})
    assert refused.status_code == 503
    assert refused.headers["content-type"] == "application/problem+json"
    assert "Retry-After" in refused.headers
    assert (await ann.poll("1")).status_code == 503
    assert (await http.get("/livez")).status_code == 200
    assert (await http.get("/readyz")).status_code == 503


# Bad input ---------------------------------------------------------------------------------------

BODIES: dict[str, tuple[object, int]] = {
    "an unknown operation": ({"operation": "no_such", "params": {}}, 404),
    "params that are a list": ({"operation": "echo", "params": [1]}, 422),
    "no operation": ({"params": {}}, 422),
    "a NUL character": ({"operation": "echo", "params": {"word": "a\0b"}}, 422),
    "no JSON": (b'{"operation": "echo", ', 400),
    "ten megabytes": ({"operation": "echo", "params": {"word": "x" * 10_000_000}}, 413),
    "params above the limit": ({"operation": "echo", "params": {"word": "x" * 300_000}}, 413),
}


async def test_bad_questions_are_refused_each_with_its_reason(
    ledger: psycopg.Connection,
    edge: EdgeProcess,
    worker: Worker,
    http: httpx2.AsyncClient,
    subtests: pytest.Subtests,
) -> None:
    ann = browser(http, edge)
    reasons = set()
    for name, (body, status) in BODIES.items():
        with subtests.test(name):
            refused = await ann.post(body)
            assert refused.status_code == status, refused.text
            assert refused.headers["content-type"] == "application/problem+json"
            assert refused.json()["status"] == status
            reasons.add(refused.json()["detail"])
    assert len(reasons) == len(BODIES), "each has a reason of its own"
    assert jobs(ledger) == 0


async def test_surfaces_that_are_not_there_are_refused(
    ledger: psycopg.Connection, edge: EdgeProcess, http: httpx2.AsyncClient
) -> None:
    question = {"operation": "echo", "params": {"word": "hello"}}
    unknown = await Browser(http, "nowhere", edge.issuer.bearer()).post(question)
    assert (unknown.status_code, unknown.json()["code"]) == (404, "NOT_FOUND")

    no_manifest_yet = await browser(http, edge).post(question)
    assert no_manifest_yet.status_code == 503
    assert "Retry-After" in no_manifest_yet.headers
    assert jobs(ledger) == 0


def unsigned(issuer: Issuer) -> str:
    return jwt.encode(issuer.claims(), key="", algorithm="none")


TOKENS: dict[str, tuple[Callable[[Issuer], str | None], str]] = {
    "none": (lambda _: None, "TOKEN_MISSING"),
    "expired": (lambda issuer: issuer.token(exp=1_000_000_000), "TOKEN_EXPIRED"),
    "for another audience": (lambda issuer: issuer.token(aud="somebody else"), "TOKEN_INVALID"),
    "alg none": (unsigned, "TOKEN_INVALID"),
    "signed by a stranger": (lambda _: Issuer().token(), "TOKEN_INVALID"),
    "without its signature": (
        lambda issuer: issuer.token().rpartition(".")[0] + ".",
        "TOKEN_INVALID",
    ),
    "without a client": (
        lambda issuer: issuer.sign({k: v for k, v in issuer.claims().items() if k != "client"}),
        "TOKEN_INVALID",
    ),
    "with an empty scope": (lambda issuer: issuer.token(scope=()), "TOKEN_INVALID"),
}


async def test_bad_tokens_are_refused(
    ledger: psycopg.Connection,
    edge: EdgeProcess,
    http: httpx2.AsyncClient,
    subtests: pytest.Subtests,
) -> None:
    for name, (make, code) in TOKENS.items():
        token = make(edge.issuer)
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        intruder = Browser(http, SURFACE, headers)
        with subtests.test(name):
            for refused in (await intruder.post({"operation": "echo"}), await intruder.poll("1")):
                assert refused.status_code == 401, refused.text
                assert refused.headers["www-authenticate"].startswith("Bearer")
                assert refused.json()["code"] == code
    assert jobs(ledger) == 0
