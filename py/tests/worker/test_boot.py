"""Boot: a worker that must not start says what to change, and exits."""

import psycopg
import pytest

from pgplane.settings import Settings
from pgplane.worker.boot import BootRefusedError, places
from pgplane.worker.main import load_surface

from ..conftest import ClientDatabase
from ..support.processes import PATIENCE
from ..support.workers import QUEUE, Worker, surface


def settings(**values: str) -> Settings:
    return Settings.model_validate(values)


def test_what_is_missing_is_named() -> None:
    with pytest.raises(BootRefusedError) as refused:
        places(settings(queue="surface-test"))
    assert str(refused.value) == (
        "set PLANE_QUEUE_URL (DSN of the queue database, as a plane_worker),"
        " PLANE_CLIENT_URL (DSN of the client database, as a reader of it)"
    )


def test_listening_goes_where_it_is_told() -> None:
    told = {"queue": "q", "queue_url": "postgresql://pooler", "client_url": "postgresql://client"}
    assert places(settings(**told)).listen_url == "postgresql://pooler"
    direct = places(settings(**told, listen_url="postgresql://direct"))
    assert direct.listen_url == "postgresql://direct"


def test_a_surface_is_found_by_module_and_name() -> None:
    assert load_surface("tests.support.workers:surface") is surface


@pytest.mark.parametrize(
    ("path", "complaint"),
    [
        ("no.such.module:surface", "no surface at 'no.such.module:surface'"),
        ("tests.support.workers:nothing", "no surface at 'tests.support.workers:nothing'"),
        ("tests.support.workers", "no surface at 'tests.support.workers'"),
        ("tests.support.workers:QUEUE", "is a str, not a Surface"),
        (
            "tests.support.workers:empty",
            "the surface at 'tests.support.workers:empty' has no operations",
        ),
    ],
)
def test_what_is_no_surface_is_refused(path: str, complaint: str) -> None:
    with pytest.raises(BootRefusedError, match=complaint):
        load_surface(path)


def refusal(**settings: str) -> str:
    """The last line of a worker that does not start."""
    with Worker(**settings) as worker:
        worker.event("worker.refused")
        assert worker.process.wait(PATIENCE) == 1
    assert "Traceback" not in "".join(worker.said)
    return worker.said[-1].strip()


def test_without_settings_it_refuses() -> None:
    assert refusal().startswith("pgplane worker: set PLANE_QUEUE_URL (")


def test_with_a_credential_that_writes_it_refuses(
    as_worker: str, client_db: ClientDatabase
) -> None:
    with psycopg.connect(client_db.owner) as owner:
        owner.execute("create table flights (id int)")
    line = refusal(queue=QUEUE, queue_url=as_worker, client_url=client_db.writer)
    assert "INSERT on table public.flights" in line
    assert "revoke insert on table public.flights from client_writer;" in line


def test_with_another_surfaces_queue_it_refuses(as_worker: str, client_db: ClientDatabase) -> None:
    line = refusal(queue="surface-other", queue_url=as_worker, client_url=client_db.reader)
    assert line == (
        "pgplane worker: PLANE_QUEUE is 'surface-other', and the surface 'test' answers"
        " 'surface-test' or a tier of it, such as 'surface-test-dev'"
    )


def test_without_its_queue_it_refuses(as_worker: str, client_db: ClientDatabase) -> None:
    line = refusal(queue=QUEUE, queue_url=as_worker, client_url=client_db.reader)
    assert line == (
        "pgplane worker: there is no queue 'surface-test' (PLANE_QUEUE). An admin creates it:"
        " select plane.create_queue(p_queue => 'surface-test')"
    )


def test_without_the_workers_role_it_refuses(as_edge: str, client_db: ClientDatabase) -> None:
    line = refusal(queue=QUEUE, queue_url=as_edge, client_url=client_db.reader)
    assert "grant plane_worker to" in line


def test_without_a_ledger_it_refuses(client_db: ClientDatabase) -> None:
    line = refusal(queue=QUEUE, queue_url=client_db.reader, client_url=client_db.reader)
    assert "Is it migrated? Run: pgplane migrate" in line


def test_while_a_database_is_away_it_waits_and_says_for_what(client_db: ClientDatabase) -> None:
    nobody = "postgresql://nobody@127.0.0.1:1/nowhere"
    with Worker(queue=QUEUE, queue_url=nobody, client_url=client_db.reader) as worker:
        waiting = worker.event("worker.waiting")
        assert waiting["waiting_for"] == "queue database"
        assert "refused" in waiting["reason"]
        assert worker.terminate() == 0
        worker.event("worker.stopped")
