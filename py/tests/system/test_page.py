"""The page in a real browser, over the real flights: all processes as `make demo` has them.

Where Node, a browser or a built page is missing it is skipped, and says what to do.
"""

import asyncio
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from flights.database import loader
from flights.demo import identity, page
from flights.operations import surface
from pgplane.client_database import reading
from pgplane.session import connect
from pgplane.surface import Envelope
from pgplane.worker.encoding import encode

from ..support.chromium import find_chromium
from ..support.postgres import ROOT, Server
from ..support.processes import Process
from ..support.stage import Deployment, deployed

WEB = ROOT / "web"
QUEUE = "surface-flights"
PATIENCE = 420.0
"""Seconds that the tests in the browser may take; on an idle machine they take 50."""


def missing() -> str | None:
    """What has to be done before the page can be tested here; None where it can."""
    if shutil.which("npm") is None:
        return "install Node 20 or newer"
    if not (WEB / "node_modules").is_dir() or not built():
        return "build the page: make page"
    if find_chromium() is None:
        return "install Chromium, or set CHROMIUM to a browser's path"
    return None


def built() -> bool:
    """Whether the page was built, and from the sources that are here now."""
    index = page.BUILT / "index.html"
    sources = [file for file in (WEB / "src").rglob("*") if file.is_file()]
    return index.is_file() and all(
        file.stat().st_mtime <= index.stat().st_mtime for file in sources
    )


def flights_of(server: Server) -> str:
    """The client database on this server, loaded, as its reader."""
    flights = asyncio.run(
        loader.ensure(
            server.database_url("postgres"), password="page", report=lambda _of, _part: None
        )
    )
    return flights.reader_url


@pytest.fixture
def page_url(
    server: Server, queue_db: str, as_edge: str, as_worker: str, tmp_path: Path
) -> Iterator[str]:
    """The address of the page, with people to be and flights to ask for."""
    with psycopg.connect(queue_db, autocommit=True) as connection:
        connection.execute("select plane.create_queue(%s)", [QUEUE])
    reader_url = flights_of(server)
    everybody = identity.people()
    static = page.assembled(tmp_path, everybody)
    with (
        Process(
            "worker", "flights.operations:surface",
            queue=QUEUE, queue_url=as_worker, client_url=reader_url,
        ) as worker,
        Process(
            "edge", "--port", "0", "--static", str(static),
            queue_url=as_edge, jwt_key=everybody.public_key, jwt_algorithms="ES256",
            jwt_audience=identity.AUDIENCE, jwt_issuer=identity.ISSUER,
        ) as edge,
    ):  # fmt: skip
        worker.event("worker.started")
        edge.event("listener.ready")
        yield f"http://127.0.0.1:{edge.event('edge.started')['port']}/"


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Deployment]:
    """The same processes, each of which the tests in the browser may break."""
    everybody = identity.people()
    static = page.assembled(tmp_path, everybody)
    with deployed(
        "flights.operations:surface", QUEUE, flights_of, "--static", str(static),
        jwt_key=everybody.public_key, jwt_algorithms="ES256",
        jwt_audience=identity.AUDIENCE, jwt_issuer=identity.ISSUER,
    ) as deployment:  # fmt: skip
        yield deployment


in_a_browser = pytest.mark.skipif(missing() is not None, reason=f"the page: {missing()}")


@in_a_browser
@pytest.mark.timeout(PATIENCE + 60)
def test_the_page_answers_in_a_browser(page_url: str) -> None:
    run("--exclude", "**/faults.test.ts", PGPLANE_PAGE_URL=page_url)


@in_a_browser
@pytest.mark.timeout(PATIENCE + 60)
def test_the_page_outlives_what_breaks_behind_it(stage: Deployment) -> None:
    run("faults.test.ts", PGPLANE_PAGE_URL=f"{stage.url}/", PGPLANE_CONTROL_URL=stage.control)
    asyncio.run(every_result_is_that_of_its_sql(stage))


async def every_result_is_that_of_its_sql(stage: Deployment) -> None:
    """Each job's result is what its operation reads over a connection of its own."""
    with psycopg.connect(stage.server.database_url("stage"), autocommit=True) as ledger:
        jobs = ledger.execute(
            "select operation, version, params::text, envelope::text, result from plane.jobs"
        ).fetchall()
    assert len(jobs) > 0
    async with await connect(stage.client_url, application_name="test") as client:
        for name, version, params, envelope, result in jobs:
            operation = surface.get(name, version)
            assert operation is not None
            async with reading(client, 30) as transaction:
                right = await operation.handler(
                    operation.params.model_validate_json(params),
                    Envelope.model_validate_json(envelope),
                    transaction,
                )
            assert result == json.loads(encode(right).text), (name, params)


def run(*arguments: str, **environment: str) -> None:
    """Run tests in a browser; fails with what they said."""
    vitest = subprocess.Popen(
        ["npm", "run", "--silent", "test:page", "--", *arguments],
        cwd=WEB,
        env={**os.environ, **environment, "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        said, _ = vitest.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(vitest.pid, signal.SIGKILL)
        said, _ = vitest.communicate()
    assert vitest.returncode == 0, said
