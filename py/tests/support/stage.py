"""A whole plane that tests in another process can break: PostgreSQL, an edge, a worker, a wire.

Clients reach the edge over the wire. Whoever wants something broken says so by HTTP, on loopback:
`POST` to `control` + `/kill/edge`, say, is answered once it is done; `GET /state` tells what runs,
and `GET /ledger` what became of every job. Queries wait in the client database from `/hold/client`
to `/release/client`, so that what is broken in between is broken in the middle of them.
"""

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from queue import Queue
from threading import Thread
from typing import Any

import psycopg
import uvicorn
from psycopg import sql
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from .oracle import broken
from .postgres import SUPERUSER, Server, for_role, install_plane
from .processes import PATIENCE, Process
from .wire import Wire, wire

LISTENERS = ("pgplane edge listener", "pgplane worker listener")
"""What connections that LISTEN call themselves."""


class Deployment:
    """The processes, where they are reached, and what can be done to them: one method a deed."""

    def __init__(self, server: Server, client_url: str, edge: Process, worker: Process) -> None:
        self.server = server
        self.client_url = client_url
        self.edge = edge
        self.worker = worker
        self._hold: psycopg.Connection | None = None
        self.port: int = edge.event("edge.started")["port"]
        self.url = ""
        """The edge's address for clients, over the wire."""
        self.control = ""
        """The address where deeds are asked for."""
        edge.event("listener.ready")
        worker.event("worker.started")
        worker.event("listener.ready")

    def kill_worker(self) -> None:
        """SIGKILL: what it held is claimed again when its lease has lapsed."""
        self.worker.kill()

    def kill_edge(self) -> None:
        """SIGKILL: every stream breaks."""
        self.edge.kill()

    def stop_worker(self) -> None:
        """SIGTERM, and wait for its end."""
        self.worker.terminate()

    def stop_edge(self) -> None:
        """SIGTERM, and wait for its end: every stream is told to come back."""
        self.edge.terminate()

    def start_worker(self) -> None:
        """A new one in place of the last, which may still run and is then killed."""
        self.worker.restart()
        self.worker.event("listener.ready")

    def start_edge(self) -> None:
        """A new one at the same port, which may find the last still running and then kills it."""
        self.edge.restart("--port", str(self.port))
        self.edge.event("listener.ready")

    def stop_postgres(self) -> None:
        """A fast shutdown: every connection is closed."""
        self.server.terminate()

    def start_postgres(self) -> None:
        """Start it again, at the same port."""
        self.server.start()

    def restart_postgres(self) -> None:
        """Both, at once."""
        self.stop_postgres()
        self.start_postgres()

    def crash_postgres(self) -> None:
        """No shutdown at all, and back through recovery."""
        self.server.crash()

    def drop_listen(self) -> None:
        """Break the connections that LISTEN, and no other."""
        with psycopg.connect(self.server.database_url("postgres"), autocommit=True) as connection:
            connection.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity"
                " where application_name = any(%s)",
                [list(LISTENERS)],
            )

    def hold_client(self) -> None:
        """Lock every table of the client database: who reads one waits, until its release."""
        self._hold = psycopg.connect(for_role(self.client_url, SUPERUSER))
        tables = self._hold.execute(
            "select schemaname, tablename from pg_tables"
            " where schemaname not in ('pg_catalog', 'information_schema') order by 1, 2"
        ).fetchall()
        self._hold.execute(
            sql.SQL("lock table {} in access exclusive mode").format(
                sql.SQL(", ").join(sql.Identifier(*table) for table in tables)
            )
        )

    def release_client(self) -> None:
        """Let them read; a restart of PostgreSQL has done so already."""
        if self._hold is not None:
            self._hold.close()
            self._hold = None

    def held(self) -> int:
        """How many queries wait in the client database."""
        with psycopg.connect(for_role(self.client_url, SUPERUSER), autocommit=True) as connection:
            (waiting,) = connection.execute(
                "select count(*) from pg_stat_activity"
                " where datname = current_database() and wait_event_type = 'Lock'"
            ).fetchone() or (0,)
        return int(waiting)

    def ledger(self) -> dict[str, Any]:
        """Every job by its id, as the ledger has it now, and what the ledger finds broken."""
        with psycopg.connect(self.server.database_url("stage"), autocommit=True) as connection:
            jobs = connection.execute(
                "select id::text, operation, status, dequeue_count, result from plane.jobs"
            )
            return {
                "jobs": {
                    job_id: {
                        "operation": operation,
                        "status": status,
                        "attempts": attempts,
                        "result": result,
                    }
                    for job_id, operation, status, attempts, result in jobs
                },
                "broken": [list(map(str, row)) for row in broken(connection)],
            }

    def state(self) -> dict[str, bool]:
        """What runs."""
        return {
            "edge": self.edge.process.poll() is None,
            "worker": self.worker.process.poll() is None,
            "postgres": bool(self.server.is_alive()),
        }


def control(on: Deployment, line: Wire) -> Starlette:
    """The app that does one deed at a time, and answers how things stand then."""
    deeds: dict[str, Callable[[], None]] = {
        "/kill/worker": on.kill_worker,
        "/kill/edge": on.kill_edge,
        "/stop/worker": on.stop_worker,
        "/stop/edge": on.stop_edge,
        "/start/worker": on.start_worker,
        "/start/edge": on.start_edge,
        "/stop/postgres": on.stop_postgres,
        "/start/postgres": on.start_postgres,
        "/restart/postgres": on.restart_postgres,
        "/crash/postgres": on.crash_postgres,
        "/drop/listen": on.drop_listen,
        "/hold/client": on.hold_client,
        "/release/client": on.release_client,
    }
    on_the_wire = {
        "/wire/cut": line.cut,
        "/wire/hold": line.hold,
        "/wire/swallow": line.swallow,
        "/wire/release": line.release,
    }
    one_at_a_time = asyncio.Lock()

    async def do(request: Request) -> Response:
        path = request.url.path
        async with one_at_a_time:
            try:
                if path in on_the_wire:
                    on_the_wire[path]()
                elif path in deeds:
                    await asyncio.to_thread(deeds[path])
                else:
                    return JSONResponse({"deeds": [*deeds, *on_the_wire]}, 404)
            except Exception as error:
                return JSONResponse({"error": f"{path}: {type(error).__name__}: {error}"}, 500)
        return JSONResponse(on.state())

    async def tell(_request: Request) -> Response:
        return JSONResponse(on.state() | {"connections": len(line)})

    async def tell_held(_request: Request) -> Response:
        return JSONResponse({"held": await asyncio.to_thread(on.held)})

    async def tell_jobs(_request: Request) -> Response:
        return JSONResponse(await asyncio.to_thread(on.ledger))

    return Starlette(
        routes=[
            Route("/state", tell),
            Route("/held", tell_held),
            Route("/ledger", tell_jobs),
            Route("/{deed:path}", do, methods=["POST"]),
        ]
    )


def client_database(server: Server) -> str:
    """A database of one empty table, that a login may read."""
    with psycopg.connect(server.database_url("postgres"), autocommit=True) as connection:
        connection.execute("create database client")
        connection.execute("create role client_login login")
    with psycopg.connect(server.database_url("client"), autocommit=True) as connection:
        connection.execute("create table flight (number text)")
        connection.execute("grant select on flight to client_login")
    return server.database_url("client", user="client_login")


@contextmanager
def deployed(
    surface: str,
    queue: str,
    client_url: Callable[[Server], str],
    *edge_arguments: str,
    lease: str = "3 s",
    **edge_settings: str,
) -> Iterator[Deployment]:
    """A plane of its own: `surface` as a worker takes it, `queue` its queue.

    `client_url` makes the client database on the plane's own PostgreSQL, and names it for a login
    that only reads; so it goes and comes with the queue database. A killed worker's jobs are
    claimed again within `lease`.
    """
    with ExitStack() as stack:
        server = stack.enter_context(Server(synchronous_commit="on"))
        url = _queue_database(server, queue, lease)
        edge = stack.enter_context(
            Process(
                "edge", "--port", "0", *edge_arguments,
                queue_url=for_role(url, "stage_edge"), **edge_settings,
            )
        )  # fmt: skip
        client = client_url(server)
        worker = stack.enter_context(
            Process(
                "worker", surface,
                queue=queue, queue_url=for_role(url, "stage_worker"), client_url=client,
            )
        )  # fmt: skip
        deployment = Deployment(server, client, edge, worker)
        stack.callback(deployment.release_client)
        with _in_a_thread(deployment):
            yield deployment


def _queue_database(server: Server, queue: str, lease: str) -> str:
    """A migrated database with the queue in it, and logins for an edge and a worker."""
    with psycopg.connect(server.database_url("postgres"), autocommit=True) as connection:
        connection.execute("create database stage")
    url = server.database_url("stage")
    install_plane(url)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "select plane.create_queue(%s, p_lease => %s::interval, p_backoff => '0 s')",
            [queue, lease],
        )
        connection.execute("create role stage_edge login in role plane_producer, plane_reader")
        connection.execute("create role stage_worker login in role plane_worker")
    return url


@contextmanager
def _in_a_thread(deployment: Deployment) -> Iterator[None]:
    """The wire and the control server, on a loop of their own."""
    opened: Queue[uvicorn.Server | Exception] = Queue()

    async def serve() -> None:
        async with wire(deployment.port) as line:
            app = control(deployment, line)
            server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off", ws="none"))
            with socket.create_server(("127.0.0.1", 0)) as listening:
                deployment.url = line.url
                deployment.control = f"http://127.0.0.1:{listening.getsockname()[1]}"
                opened.put(server)
                await server.serve(sockets=[listening])

    def run() -> None:
        try:
            asyncio.run(serve())
        except Exception as error:
            opened.put(error)
            raise

    thread = Thread(target=run, name="control")
    thread.start()
    server = opened.get(timeout=PATIENCE)
    if isinstance(server, Exception):
        raise server
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
