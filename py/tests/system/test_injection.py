"""What workers and their handlers say forges no event, id or retry: read by parsers of others.

One is a library's, the other a browser's; where Chromium is missing, its test says so.
"""

import asyncio
import json
import os
import signal
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest

from ..support.browsers import EdgeProcess, edge_process
from ..support.chromium import find_chromium
from ..support.edges import MANIFEST, Plane, ask, until
from ..support.issuer import Issuer
from ..support.nginx import find_nginx, nginx

QUEUE = "surface-flights"
CHROMIUM = find_chromium()

FORGED = 'event: forged\ndata: {"jobId": "1", "result": "forged"}\n\n'
LINE_ENDS = ("\n", "\r", "\r\n", "\u2028", "\u2029", "\x85", "\x0b", "\x0c")
EVIL = [
    *(f"x{end}{end}{FORGED}" for end in LINE_ENDS),
    *(FORGED.replace("\n", end) for end in LINE_ENDS),
    "\n\nid: forged\n\n",
    "\rid: forged\rretry: 1\r\r",
    "\r\nretry: 1\r\n\r\n",
    "\ufeffevent: forged\n\ufeffdata: forged\n\n",
    ": a comment\n:\n\n",
    "\x00id: forged\x00\n\x00\n",
    "data",
    "",
]
"""Texts that would be events, if one let them."""

Event = tuple[str, str, str]
"""Name, id and data."""


@pytest.fixture
def static(tmp_path: Path) -> Path:
    """A page of the edge's own origin, which tells its hearer all that its EventSource says."""
    folder = tmp_path / "static"
    folder.mkdir()
    (folder / "index.html").write_text(
        """<script>
        const [stream, hearer] = decodeURIComponent(location.hash.slice(1)).split(' ');
        let told = Promise.resolve();
        const source = new EventSource(stream);
        const ours = ['queued', 'running', 'progress', 'done', 'error', 'end'];
        for (const name of [...ours, 'message', 'forged']) {
          source.addEventListener(name, (event) => {
            if (!(event instanceof MessageEvent)) return;
            const body = JSON.stringify([event.type, event.lastEventId, event.data]);
            told = told.then(() => fetch(hearer, { method: 'POST', mode: 'no-cors', body }));
            if (name === 'end') source.close();
          });
        }
        </script>"""
    )
    return folder


@pytest.fixture
def edge(plane: Plane, issuer: Issuer, as_edge: str, static: Path) -> Iterator[EdgeProcess]:
    plane.look("select plane.create_queue(%s, p_lease => '1 hour')", QUEUE)
    with edge_process(issuer, "--static", str(static), queue_url=as_edge) as running:
        running.process.event("listener.ready")
        yield running


@dataclass
class Said:
    """Jobs of which everything was said in the worst of words."""

    plane: Plane
    held: dict[int, tuple[int, str]]
    """Attempt and message of each that runs still."""
    answers: dict[int, Any]
    """The results of those that have one, or will have."""
    errors: dict[int, str]
    """What each of the others was refused with."""
    path: str
    """Where all of them are told."""

    def more(self) -> None:
        """Report the end of all that run, in the words of the beginning."""
        for job_id, (attempt, message) in self.held.items():
            self.plane.look(
                "select plane.report_progress(%s, %s, 2, 2, %s)", job_id, attempt, message
            )

    def end(self) -> None:
        """End those that run."""
        for job_id, (attempt, _) in self.held.items():
            self.plane.complete((job_id, attempt), _json(self.answers[job_id]))


def _json(value: Any) -> str:
    """JSON text with line ends wherever they may be, and nothing escaped that need not be."""
    text = json.dumps(value, ensure_ascii=False, separators=(",\r", "\r\n\n:\n"))
    return f"\r\n\n{text}\r"


def _kept(evil: str) -> str:
    """This text as PostgreSQL can hold it, in JSON as elsewhere."""
    return evil.replace("\0", "\N{REPLACEMENT CHARACTER}")


async def said(http: httpx2.AsyncClient, plane: Plane, issuer: Issuer) -> Said:
    kinds = [(kind, evil) for evil in EVIL for kind in ("held", "answered", "refused")]
    for number in range(len(kinds)):
        await ask(http, issuer, params={"n": number})
    jobs = plane.look("select * from plane.claim(%s, 'tester', %s)", QUEUE, len(kinds))
    all_said = Said(plane, {}, {}, {}, "")
    for (job_id, attempt), (kind, evil) in zip(
        sorted((job[0], 1) for job in jobs), kinds, strict=True
    ):
        if kind == "held":
            message = _kept(evil)
            plane.look("select plane.report_progress(%s, %s, 1, 2, %s)", job_id, attempt, message)
            all_said.held[job_id] = attempt, message
            all_said.answers[job_id] = _kept(evil)
        elif kind == "answered":
            plane.complete((job_id, attempt), _json({evil: [evil, {evil: evil}]}))
            kept = _kept(evil)
            all_said.answers[job_id] = {kept: [kept, {kept: kept}]}
        else:
            all_said.errors[job_id] = _kept(evil)
            error = {"status": 409, "code": evil, "message": evil, f"{evil}{evil}": evil}
            plane.complete((job_id, attempt), None, _json(error))
    ids = ",".join(str(job[0]) for job in jobs)
    ticket = await http.post(f"/api/flights/ticket?jobs={ids}", headers=issuer.bearer())
    all_said.path = ticket.json()["streamUrl"]
    return all_said


def assert_nothing_is_forged(events: list[Event], all_said: Said) -> None:
    """All that was said is there, word by word, and nothing else."""
    assert events[-1] == ("end", "end", "{}")
    told: defaultdict[int, list[tuple[str, Any]]] = defaultdict(list)
    for name, event_id, data in events[:-1]:
        document = json.loads(data)
        last = name in ("done", "error")
        assert event_id == f"{document['jobId']}.{'end' if last else name}"
        told[int(document["jobId"])].append((name, document))
    assert told.keys() == all_said.answers.keys() | all_said.errors.keys()
    for job_id, evil in all_said.errors.items():
        ((name, document),) = told[job_id]
        members = {"code": evil, "detail": evil, f"{evil}{evil}": evil, "status": 409}
        expected = {"type": "about:blank", "title": "Conflict", "jobId": str(job_id)}
        assert (name, document) == ("error", members | expected)
    for job_id, result in all_said.answers.items():
        *before, (name, document) = told[job_id]
        assert (name, document["result"]) == ("done", result)
        if job_id not in all_said.held:
            assert before == []
            continue
        assert [name for name, _ in before] == ["queued", "running", "progress"]
        messages = [document["progress"]["message"] for _, document in before[1:]]
        assert messages == [all_said.held[job_id][1]] * 2


@asynccontextmanager
async def through(edge: EdgeProcess, folder: Path, way: str) -> AsyncIterator[str]:
    """The address of the edge, or of nginx before it."""
    if way == "edge":
        yield edge.url
        return
    if find_nginx() is None:
        pytest.skip("nginx: run tools/ensure-test-tools.sh")
    with nginx(folder, edge.port) as before:
        yield before.url


@pytest.mark.parametrize("way", ["edge", "nginx"])
async def test_a_librarys_parser_reads_what_was_said_and_nothing_else(
    edge: EdgeProcess, plane: Plane, issuer: Issuer, tmp_path: Path, way: str
) -> None:
    async with (
        through(edge, tmp_path, way) as url,
        httpx2.AsyncClient(base_url=url, timeout=30) as http,
    ):
        all_said = await said(http, plane, issuer)
        heard = []
        async with http.stream("GET", all_said.path) as response:
            running = progressing = 0
            async for event in httpx2.EventSource(response):
                heard.append(event)
                running += event.event == "running"
                progressing += event.event == "progress"
                if event.event == "running" and running == len(all_said.held):
                    all_said.more()
                if event.event == "progress" and progressing == len(all_said.held):
                    all_said.end()
    assert_nothing_is_forged([(one.event, one.id, one.data) for one in heard], all_said)
    first, *others = (one.retry for one in heard)
    assert first is not None
    assert 1000 <= first <= 4000
    assert set(others) == {None}


@pytest.mark.skipif(CHROMIUM is None, reason="install Chromium, or set CHROMIUM to its path")
async def test_a_browser_reads_what_was_said_and_nothing_else(
    edge: EdgeProcess, plane: Plane, issuer: Issuer, tmp_path: Path
) -> None:
    heard: list[Event] = []

    def count(name: str) -> int:
        return sum(event[0] == name for event in heard)

    async with through(edge, tmp_path, "nginx") as url:
        async with httpx2.AsyncClient(base_url=url, timeout=30) as http:
            all_said = await said(http, plane, issuer)
        async with (
            hearing(heard) as hearer,
            browsing(f"{url}/#{all_said.path}%20{hearer}", tmp_path),
        ):
            await until(lambda: count("running") == len(all_said.held))
            all_said.more()
            await until(lambda: count("progress") == len(all_said.held))
            all_said.end()
            await until(lambda: count("end") > 0)
    assert_nothing_is_forged(heard, all_said)


@asynccontextmanager
async def hearing(heard: list[Event]) -> AsyncIterator[str]:
    """Where a page can tell what it has heard."""

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
        name, event_id, data = json.loads(await reader.readexactly(length))
        heard.append((name, event_id, data))
        writer.write(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(take, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"


@asynccontextmanager
async def browsing(url: str, folder: Path) -> AsyncIterator[None]:
    """A browser that shows this page."""
    assert CHROMIUM is not None
    flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"]
    profile = f"--user-data-dir={folder / 'profile'}"
    process = await asyncio.create_subprocess_exec(
        CHROMIUM, *flags, profile, url,
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


async def test_an_operations_name_is_a_word(
    edge: EdgeProcess, plane: Plane, issuer: Issuer
) -> None:
    """No name gets in by which an event, a header or a line of a log could be forged."""
    async with edge.connections() as http:
        for evil in EVIL:
            question = {"operation": evil, "params": {}}
            refused = await http.post("/api/flights/q", json=question, headers=issuer.bearer())
            assert refused.status_code in (404, 422)
            assert refused.headers["Content-Type"] == "application/problem+json"
            assert refused.json()["status"] == refused.status_code
            assert "forged" not in refused.headers
            if evil and "\0" not in evil and evil != "data":
                manifest = json.dumps([MANIFEST[0] | {"name": evil}])
                with pytest.raises(psycopg.Error, match="not well formed"):
                    plane.look("select plane.register_manifest(%s, %s)", QUEUE, manifest)
    assert plane.jobs() == 0
    for line in edge.process.said:
        json.loads(line)
