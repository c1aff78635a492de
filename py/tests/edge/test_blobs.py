"""Blobs over HTTP: what is downloaded, by whom, and what that costs others."""

import asyncio
import random
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from pgplane import ledger
from pgplane.edge.blobs import downloads, reading
from pgplane.edge.blobs.reading import disposition
from pgplane.edge.edge import Edge
from pgplane.edge.server import listen, make_server
from pgplane.errors import Unavailable
from pgplane.settings import Settings

from ..support.blobs import answer_with, write
from ..support.edges import ASK, Plane, ask, in_process, on_a_port, problem, running, until
from ..support.issuer import Issuer
from ..support.nginx import BARE, find_nginx, nginx

BOB = ("acme", "bob@acme.example")
SIZE = 2 * 1024**2 + 12_345
DATA = random.Random(7).randbytes(SIZE)
MIB = 1024**2


async def asked_and_answered(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer, data: bytes = DATA, **ask_as: Any
) -> str:
    """Ask, answer with a blob; its address."""
    asked = await ask(client, issuer, **ask_as)
    return f"{asked['statusUrl']}/blob/{answer_with(plane, data)}"


@pytest.fixture
async def url(client: httpx2.AsyncClient, plane: Plane, issuer: Issuer) -> str:
    """The address of a blob of ann's."""
    return await asked_and_answered(client, plane, issuer)


async def test_a_blob_is_downloaded_whole(
    client: httpx2.AsyncClient, issuer: Issuer, url: str
) -> None:
    response = await client.get(url, headers=issuer.bearer())
    assert response.status_code == 200
    assert response.content == DATA
    headers = response.headers
    assert headers["Content-Type"] == "text/csv"
    assert headers["Content-Length"] == str(SIZE)
    assert headers["Accept-Ranges"] == "bytes"
    assert headers["Cache-Control"] == "private, no-store, no-transform"
    assert headers["X-Accel-Buffering"] == "no", "no temporary file of a proxy"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["Content-Security-Policy"].startswith("sandbox;")
    assert headers["Content-Disposition"] == (
        "attachment; filename=\"flights.csv\"; filename*=UTF-8''flights.csv"
    )
    assert headers["ETag"].strip('"').isalnum()


async def test_a_head_says_the_same_without_a_byte(
    client: httpx2.AsyncClient, issuer: Issuer, url: str
) -> None:
    whole = await client.get(url, headers=issuer.bearer())
    head = await client.head(url, headers=issuer.bearer() | {"Range": "bytes=0-0"})
    assert (head.status_code, head.content) == (200, b"")
    for response in (whole, head):
        del response.headers["X-Request-Id"]
    assert head.headers == whole.headers


@pytest.mark.parametrize(
    ("asked_for", "start", "end"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=0-499", 0, 500),
        (f"bytes={MIB - 1}-{MIB}", MIB - 1, MIB + 1),
        (f"bytes=100-{2 * MIB + 100}", 100, 2 * MIB + 101),
        (f"bytes={2 * MIB}-", 2 * MIB, SIZE),
        (f"bytes={SIZE - 1}-{SIZE + 7}", SIZE - 1, SIZE),
        ("bytes=-5", SIZE - 5, SIZE),
        (f"bytes=-{SIZE + 1}", 0, SIZE),
    ],
)
async def test_a_range_is_those_bytes(
    client: httpx2.AsyncClient, issuer: Issuer, url: str, asked_for: str, start: int, end: int
) -> None:
    response = await client.get(url, headers=issuer.bearer() | {"Range": asked_for})
    assert response.status_code == 206
    assert response.content == DATA[start:end]
    assert response.headers["Content-Range"] == f"bytes {start}-{end - 1}/{SIZE}"
    assert response.headers["Content-Length"] == str(end - start)


@pytest.mark.parametrize("asked_for", ["bytes=0-0,5-6", "bytes=5-4", "rows=1-2"])
async def test_what_is_not_one_range_is_the_whole(
    client: httpx2.AsyncClient, issuer: Issuer, url: str, asked_for: str
) -> None:
    response = await client.get(url, headers=issuer.bearer() | {"Range": asked_for})
    assert (response.status_code, response.content) == (200, DATA)
    assert "Content-Range" not in response.headers


async def test_bytes_that_there_are_not_cannot_be_had(
    client: httpx2.AsyncClient, issuer: Issuer, url: str
) -> None:
    response = await client.get(url, headers=issuer.bearer() | {"Range": f"bytes={SIZE}-"})
    assert problem(response, 416)["code"] == "RANGE_NOT_SATISFIABLE"
    assert response.headers["Content-Range"] == f"bytes */{SIZE}"


async def test_a_download_goes_on_with_the_same_bytes_only(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer, url: str
) -> None:
    etag = (await client.head(url, headers=issuer.bearer())).headers["ETag"]
    rest = issuer.bearer() | {"Range": "bytes=5-", "If-Range": etag}
    assert (await client.get(url, headers=rest)).content == DATA[5:]
    other = await asked_and_answered(client, plane, issuer, DATA[::-1], params={"other": True})
    response = await client.get(other, headers=rest)
    assert (response.status_code, response.content) == (200, DATA[::-1])


async def test_what_the_client_has_is_not_sent_again(
    client: httpx2.AsyncClient, issuer: Issuer, url: str
) -> None:
    etag = (await client.head(url, headers=issuer.bearer())).headers["ETag"]
    for method in ("GET", "HEAD"):
        known = issuer.bearer() | {"If-None-Match": f'"other", W/{etag}'}
        response = await client.request(method, url, headers=known)
        assert (response.status_code, response.content) == (304, b"")
        assert response.headers["ETag"] == etag
        assert "Content-Type" not in response.headers


async def test_an_empty_blob_has_no_parts(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer
) -> None:
    url = await asked_and_answered(client, plane, issuer, b"")
    response = await client.get(url, headers=issuer.bearer())
    assert (response.status_code, response.content) == (200, b"")
    assert response.headers["Content-Length"] == "0"
    refused = await client.get(url, headers=issuer.bearer() | {"Range": "bytes=0-"})
    problem(refused, 416)


@pytest.mark.parametrize(
    ("filename", "header"),
    [
        (None, "attachment"),
        ("report.pdf", "attachment; filename=\"report.pdf\"; filename*=UTF-8''report.pdf"),
        (
            "Übersicht 5 €.csv",
            'attachment; filename="_bersicht 5 _.csv"; '
            "filename*=UTF-8''%C3%9Cbersicht%205%20%E2%82%AC.csv",
        ),
        (
            'a"; filename="b.exe',
            'attachment; filename="a_; filename=_b.exe"; '
            "filename*=UTF-8''a%22%3B%20filename%3D%22b.exe",
        ),
        (
            "a\r\nSet-Cookie: b=c",
            'attachment; filename="a__Set-Cookie_ b=c"; '
            "filename*=UTF-8''a%0D%0ASet-Cookie%3A%20b%3Dc",
        ),
        ("100%41.txt", "attachment; filename=\"100_41.txt\"; filename*=UTF-8''100%2541.txt"),
        ("it's.txt", "attachment; filename=\"it_s.txt\"; filename*=UTF-8''it%27s.txt"),
    ],
)
def test_a_name_is_a_name_and_nothing_else(filename: str | None, header: str) -> None:
    assert disposition(filename) == header
    assert header.isascii()
    assert header.isprintable()


async def test_what_a_worker_says_is_never_a_page_of_the_edge(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer
) -> None:
    asked = await ask(client, issuer)
    number = answer_with(plane, b"<script>alert(1)</script>", "text/html", "über.html")
    response = await client.get(f"{asked['statusUrl']}/blob/{number}", headers=issuer.bearer())
    assert response.headers["Content-Type"] == "text/html"
    assert response.headers["Content-Disposition"].startswith("attachment; ")
    assert response.headers["Content-Security-Policy"] == "sandbox; default-src 'none'"


@pytest.mark.parametrize(
    ("content_type", "served"),
    [
        *((f"text/{name}", None) for name in ("javascript", "ecmascript", "jscript", "livescript")),
        *((f"application/{name}", None) for name in ("x-javascript", "wasm", "importmap+json")),
        ("TEXT/JavaScript; charset=utf-8", None),
        ("text/javascript1.5", None),
        ("text/css", None),
        ("text/plain; x, text/css", None),
        ("application/xslt+xml", None),
        ("text/csv", "text/csv"),
        ("application/json", "application/json"),
        ("image/png", "image/png"),
    ],
)
async def test_what_a_worker_says_is_never_run_by_a_page_of_the_edge(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer, content_type: str, served: str | None
) -> None:
    asked = await ask(client, issuer)
    number = answer_with(plane, b"alert(1)", content_type, "a.js")
    url = f"{asked['statusUrl']}/blob/{number}"
    for method in ("GET", "HEAD"):
        response = await client.request(method, url, headers=issuer.bearer())
        assert response.headers["Content-Type"] == (served or "application/octet-stream")
        assert response.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("number", ["0", "2", "-1", "x", "1.0", "１", "2147483648", "9" * 400])
async def test_a_blob_that_is_none(
    client: httpx2.AsyncClient, issuer: Issuer, url: str, number: str
) -> None:
    address = url.removesuffix("/1") + "/" + number
    response = await client.get(address, headers=issuer.bearer())
    assert problem(response, 404)["code"] == "NOT_FOUND"


@pytest.mark.parametrize("other", [{"scope": ["JFK"]}, {"client": "umbrella"}, {"staff": True}])
async def test_a_strangers_blob_is_none(
    client: httpx2.AsyncClient, issuer: Issuer, url: str, other: dict[str, Any]
) -> None:
    for method in ("GET", "HEAD"):
        theirs = await client.request(method, url, headers=issuer.bearer(**other))
        none = await client.request(method, f"{ASK}/999/blob/1", headers=issuer.bearer(**other))
        assert theirs.status_code == none.status_code == 404
        assert theirs.content == none.content


async def test_who_shares_the_job_shares_its_blobs(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer, url: str
) -> None:
    assert (await client.get(url, headers=issuer.bearer(*BOB))).content == DATA
    own = await asked_and_answered(client, plane, issuer, b"mine", operation="mine")
    assert (await client.get(own, headers=issuer.bearer())).content == b"mine"
    problem(await client.get(own, headers=issuer.bearer(*BOB)), 404)


async def test_a_blob_is_there_once_its_job_is_done(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer
) -> None:
    asked = await ask(client, issuer)
    job = plane.claim()
    url = f"{asked['statusUrl']}/blob/{write(plane, job, DATA)}"
    problem(await client.get(url, headers=issuer.bearer()), 404)
    plane.complete(job, "{}")
    assert (await client.get(url, headers=issuer.bearer())).status_code == 200


async def test_an_answer_out_of_a_cache_has_the_blobs_of_the_job_that_made_it(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer, url: str
) -> None:
    first = url.split("/")[-3]
    again = await ask(client, issuer)
    assert again["jobId"] != first
    job = plane.claim()
    plane.look(
        "select plane.complete_job(%s, %s, '1', p_cache => 'hit', p_blobs_of => %s)", *job, first
    )
    own = f"{again['statusUrl']}/blob/1"
    responses = [await client.get(one, headers=issuer.bearer()) for one in (url, own)]
    assert [response.content for response in responses] == [DATA, DATA]
    assert len({response.headers["ETag"] for response in responses}) == 1
    problem(await client.get(own, headers=issuer.bearer(scope=["JFK"])), 404)


def expire(plane: Plane) -> None:
    """From now on, no blob of the queue is kept."""
    plane.look("select plane.create_queue('surface-flights', p_blob_retention => '0 s')")


async def test_an_expired_blob_is_gone(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer, url: str
) -> None:
    expire(plane)
    for range_asked in ({}, {"Range": "bytes=5-"}):
        gone = await client.get(url, headers=issuer.bearer() | range_asked)
        assert problem(gone, 410)["code"] == "GONE"
        assert "plane." not in gone.text, "what to do is said to who asks, not to who runs it"
    stranger = await client.get(url, headers=issuer.bearer(scope=["JFK"]))
    assert problem(stranger, 404)["code"] == "NOT_FOUND"


BIG = 24 * MIB


@pytest.fixture
def big() -> bytes:
    return random.Random(8).randbytes(BIG)


def send_request(
    connection: socket.socket, client: httpx2.AsyncClient, url: str, token: dict[str, str]
) -> None:
    """Ask for a blob where the client would, by a connection that holds little."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
    connection.settimeout(20)
    connection.connect((client.base_url.host, client.base_url.port))
    head = f"GET {url} HTTP/1.1\r\nHost: edge\r\nAuthorization: {token['Authorization']}"
    connection.sendall(f"{head}\r\n\r\n".encode())


@contextmanager
def slow(client: httpx2.AsyncClient, url: str, token: dict[str, str]) -> Iterator[socket.socket]:
    """A client that has sent its request, and takes nothing."""
    with socket.socket() as stuck:
        send_request(stuck, client, url, token)
        yield stuck


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The lengths of the pieces that are read from now on."""
    lengths: list[int] = []
    real = ledger.read_blob

    async def read(*args: Any) -> bytes:
        lengths.append(args[-1])
        return await real(*args)

    monkeypatch.setattr(ledger, "read_blob", read)
    return lengths


async def test_a_slow_client_holds_no_connection_and_a_piece_of_memory(
    plane: Plane, settings: Settings, issuer: Issuer, monkeypatch: pytest.MonkeyPatch, big: bytes
) -> None:
    alone = settings.model_copy(update={"pool_size": 1})
    lengths = counted(monkeypatch)
    async with on_a_port(alone) as (client, parts):
        url = await asked_and_answered(client, plane, issuer, big)
        with slow(client, url, issuer.bearer()):
            await until(lambda: bool(lengths))
            for n in range(3):
                await ask(client, issuer, params={"n": n})
            assert len(parts.admission.downloads) == 1
            assert sum(lengths) < BIG, "the rest is not read before the client takes it"
            assert max(lengths) <= MIB
        await until(lambda: len(parts.admission.downloads) == 0)
        assert sum(lengths) < BIG, "nothing is read for a client that is gone"


async def test_a_client_that_takes_nothing_is_let_go(
    plane: Plane, settings: Settings, issuer: Issuer, monkeypatch: pytest.MonkeyPatch, big: bytes
) -> None:
    monkeypatch.setattr(downloads, "SEND_SECONDS", 1.0)
    async with on_a_port(settings) as (client, parts):
        url = await asked_and_answered(client, plane, issuer, big)
        with slow(client, url, issuer.bearer()):
            await until(lambda: len(parts.admission.downloads) == 1)
            await until(lambda: len(parts.admission.downloads) == 0)
        assert (await client.get(url, headers=issuer.bearer())).content == big


def body_of(stuck: socket.socket, size: int) -> bytes:
    """So many bytes behind the headers."""
    answer = bytearray()
    while len(answer.partition(b"\r\n\r\n")[2]) < size:
        answer += stuck.recv(1 << 20)
    return bytes(answer.partition(b"\r\n\r\n")[2])


def received(stuck: socket.socket) -> bytes:
    """All that comes until the connection ends."""
    answer = bytearray()
    while chunk := stuck.recv(1 << 16):
        answer += chunk
    return bytes(answer)


async def test_one_that_breaks_off_goes_on_where_it_was(
    plane: Plane, settings: Settings, issuer: Issuer, monkeypatch: pytest.MonkeyPatch, big: bytes
) -> None:
    """The blob cannot be read for a moment, and is back."""
    real = ledger.read_blob
    broken = asyncio.Event()

    async def read(*args: Any) -> bytes:
        if broken.is_set() and args[-2] >= 8 * MIB:
            raise Unavailable("the queue database is unreachable")
        return await real(*args)

    monkeypatch.setattr(ledger, "read_blob", read)
    broken.set()
    async with on_a_port(settings) as (client, _):
        url = await asked_and_answered(client, plane, issuer, big)
        with slow(client, url, issuer.bearer()) as cut:
            head, _, first = (await asyncio.to_thread(received, cut)).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 ")
        assert f"content-length: {BIG}".encode() in head.lower()
        assert first == big[: 8 * MIB]
        broken.clear()
        etag = (await client.head(url, headers=issuer.bearer())).headers["ETag"]
        rest = {"Range": f"bytes={len(first)}-", "If-Range": etag}
        response = await client.get(url, headers=issuer.bearer() | rest)
        assert response.status_code == 206
        assert first + response.content == big


@pytest.mark.skipif(find_nginx() is None, reason="nginx: run tools/ensure-test-tools.sh")
async def test_none_of_it_lies_on_the_disk_of_a_proxy(
    client: httpx2.AsyncClient,
    plane: Plane,
    settings: Settings,
    issuer: Issuer,
    big: bytes,
    tmp_path: Path,
) -> None:
    """Not even by nginx's own defaults; it would warn of a temporary file."""
    url = await asked_and_answered(client, plane, issuer, big)
    async with on_a_port(settings) as (direct, parts):
        port = direct.base_url.port
        assert port is not None
        with nginx(tmp_path, port, BARE) as proxy:
            before = httpx2.AsyncClient(base_url=proxy.url)
            with slow(before, url, issuer.bearer()) as behind:
                await until(lambda: len(parts.admission.downloads) == 1)
                assert await asyncio.to_thread(body_of, behind, len(big)) == big
            await before.aclose()
            assert proxy.error_log == ""


@asynccontextmanager
async def a_server(settings: Settings) -> AsyncIterator[tuple[httpx2.AsyncClient, Edge]]:
    """A server that is told to end, and has ended, when the block is left."""
    server = make_server(settings)
    app: Any = server.config.app
    with listen("127.0.0.1", 0) as listening:
        base_url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        async with httpx2.AsyncClient(base_url=base_url) as client, running(server, listening):
            yield client, app.state.edge


async def test_one_under_way_when_the_edge_is_to_end_is_finished(
    client: httpx2.AsyncClient, plane: Plane, settings: Settings, issuer: Issuer, big: bytes
) -> None:
    url = await asked_and_answered(client, plane, issuer, big)
    with socket.socket() as mine:
        async with a_server(settings) as (leaving, parts):
            send_request(mine, leaving, url, issuer.bearer())
            await until(lambda: len(parts.admission.downloads) == 1)
            receiving = asyncio.create_task(asyncio.to_thread(received, mine))
        assert (await receiving).partition(b"\r\n\r\n")[2] == big


async def test_one_that_takes_longer_than_the_grace_time_goes_on_elsewhere(
    client: httpx2.AsyncClient, plane: Plane, settings: Settings, issuer: Issuer, big: bytes
) -> None:
    url = await asked_and_answered(client, plane, issuer, big)
    brief = settings.model_copy(update={"grace_seconds": 0.1})
    with socket.socket() as mine:
        async with a_server(brief) as (leaving, parts):
            send_request(mine, leaving, url, issuer.bearer())
            await until(lambda: len(parts.admission.downloads) == 1)
        assert len(parts.admission.downloads) == 0
        first = (await asyncio.to_thread(received, mine)).partition(b"\r\n\r\n")[2]
    assert len(first) < BIG
    etag = (await client.head(url, headers=issuer.bearer())).headers["ETag"]
    rest = {"Range": f"bytes={len(first)}-", "If-Range": etag}
    response = await client.get(url, headers=issuer.bearer() | rest)
    assert first + response.content == big


async def test_an_expiry_ends_a_download_under_way(
    plane: Plane, settings: Settings, issuer: Issuer, big: bytes
) -> None:
    async with on_a_port(settings) as (client, parts):
        url = await asked_and_answered(client, plane, issuer, big)
        with slow(client, url, issuer.bearer()) as stuck:
            await until(lambda: len(parts.admission.downloads) == 1)
            assert (await asyncio.to_thread(stuck.recv, 100)).startswith(b"HTTP/1.1 200 ")
            expire(plane)
            rest = await asyncio.to_thread(received, stuck)
        assert len(rest) < BIG
        gone = await client.get(url, headers=issuer.bearer() | {"Range": "bytes=5-"})
        assert problem(gone, 410)["code"] == "GONE"


class Gate:
    """Reads of blobs that come in and do not go on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.inside = 0
        self.open = asyncio.Event()
        real = ledger.read_blob

        async def read(*args: Any) -> bytes:
            self.inside += 1
            await self.open.wait()
            return await real(*args)

        monkeypatch.setattr(ledger, "read_blob", read)


@pytest.mark.parametrize(("pool_size", "readers"), [(2, 1), (4, 2), (5, 2)])
async def test_downloads_leave_half_of_the_connections_to_others(
    plane: Plane,
    settings: Settings,
    issuer: Issuer,
    monkeypatch: pytest.MonkeyPatch,
    pool_size: int,
    readers: int,
) -> None:
    monkeypatch.setattr(reading, "TURN_SECONDS", 0.05)
    gate = Gate(monkeypatch)
    async with in_process(settings.model_copy(update={"pool_size": pool_size})) as (client, _):
        url = await asked_and_answered(client, plane, issuer)
        loads = [
            asyncio.create_task(client.get(url, headers=issuer.bearer())) for _ in range(readers)
        ]
        await until(lambda: gate.inside == readers)
        refused = await client.get(url, headers=issuer.bearer())
        assert problem(refused, 503)["code"] == "TOO_MANY_DOWNLOADS"
        assert int(refused.headers["Retry-After"]) > 0
        for n in range(8):
            await ask(client, issuer, params={"n": n})
        assert (gate.inside, [load.done() for load in loads]) == (readers, [False] * readers)
        gate.open.set()
        assert all(response.content == DATA for response in await asyncio.gather(*loads))


async def test_one_that_cannot_begin_gives_its_place_back(
    edge: tuple[httpx2.AsyncClient, Edge],
    url: str,
    issuer: Issuer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client, parts = edge

    def fail(*_args: object) -> None:
        raise MemoryError

    monkeypatch.setattr(downloads.Download, "init_headers", fail)
    assert (await client.get(url, headers=issuer.bearer())).status_code == 500
    assert len(parts.admission.downloads) == 0


async def test_so_many_downloads_and_no_more(
    plane: Plane, settings: Settings, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(monkeypatch)
    few = settings.model_copy(update={"max_downloads": 2, "pool_size": 8})
    async with in_process(few) as (client, parts):
        url = await asked_and_answered(client, plane, issuer)
        first = asyncio.create_task(client.get(url, headers=issuer.bearer()))
        await until(lambda: gate.inside == 1)
        own = await client.get(url, headers=issuer.bearer())
        assert problem(own, 429)["code"] == "TOO_MANY_DOWNLOADS"
        assert int(own.headers["Retry-After"]) > 0
        second = asyncio.create_task(client.get(url, headers=issuer.bearer(*BOB)))
        await until(lambda: gate.inside == 2)
        third = await client.get(url, headers=issuer.bearer("acme", "cleo@acme.example"))
        assert problem(third, 503)["code"] == "TOO_MANY_DOWNLOADS"
        gate.open.set()
        assert [one.status_code for one in await asyncio.gather(first, second)] == [200, 200]
        assert len(parts.admission.downloads) == 0
        for refused_too in ({"Range": "bytes=9999999999-"}, {"If-None-Match": "*"}):
            await client.get(url, headers=issuer.bearer() | refused_too)
        await client.get(f"{url}9", headers=issuer.bearer())
        assert len(parts.admission.downloads) == 0
        assert (await client.get(url, headers=issuer.bearer())).content == DATA
