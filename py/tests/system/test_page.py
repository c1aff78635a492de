"""The page in a real browser, over the real flights: all processes as `make demo` has them.

Where Node, a browser or a built page is missing it is skipped, and says what to do.
"""

import asyncio
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

from ..support.chromium import find_chromium
from ..support.oracle import broken
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


@pytest.fixture
def page_url(
    server: Server, queue_db: str, as_edge: str, as_worker: str, tmp_path: Path
) -> Iterator[str]:
    """The address of the page, with people to be and flights to ask for."""
    with psycopg.connect(queue_db, autocommit=True) as connection:
        connection.execute("select plane.create_queue(%s)", [QUEUE])
    flights = asyncio.run(
        loader.ensure(
            server.database_url("postgres"), password="page", report=lambda _of, _part: None
        )
    )
    everybody = identity.people()
    static = page.assembled(tmp_path, everybody)
    with (
        Process(
            "worker", "flights.operations:surface",
            queue=QUEUE, queue_url=as_worker, client_url=flights.reader_url,
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
    """The same, on a stage where everything can be broken. What was asked there is answered."""
    everybody = identity.people()

    def load(server: Server) -> str:
        admin = server.database_url("postgres")
        return asyncio.run(
            loader.ensure(admin, password="page", report=lambda _of, _part: None)
        ).reader_url

    with deployed(
        "flights.operations:surface",
        QUEUE,
        load,
        "--static",
        str(page.assembled(tmp_path, everybody)),
        worker_settings={"cache_entries": "0"},
        jwt_key=everybody.public_key,
        jwt_algorithms="ES256",
        jwt_audience=identity.AUDIENCE,
        jwt_issuer=identity.ISSUER,
    ) as deployment:
        yield deployment
        with psycopg.connect(deployment.server.database_url("stage"), autocommit=True) as plane:
            assert broken(plane) == []
            unanswered = "select id from plane.jobs where status not in ('done', 'cancelled')"
            assert plane.execute(unanswered).fetchall() == []


def browse(script: str, **addresses: str) -> None:
    """Run the tests of one npm script, with these addresses in PGPLANE_<name>_URL."""
    named = {f"PGPLANE_{name.upper()}_URL": address for name, address in addresses.items()}
    vitest = subprocess.Popen(
        ["npm", "run", "--silent", script],
        cwd=WEB,
        env={**os.environ, **named, "NO_COLOR": "1"},
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


pytestmark = [
    pytest.mark.skipif(missing() is not None, reason=f"the page: {missing()}"),
    pytest.mark.timeout(PATIENCE + 60),
]


def test_the_page_answers_in_a_browser(page_url: str) -> None:
    browse("test:page", page=page_url)


def test_the_page_comes_through_faults(stage: Deployment) -> None:
    browse("test:faults", page=stage.url + "/", stage=stage.control)
