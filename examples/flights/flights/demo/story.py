"""The demo from its first line to its last."""

from __future__ import annotations

import asyncio
import fcntl
import secrets
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from pathlib import Path

import httpx2
import psycopg
from psycopg import AsyncConnection

from flights.database import loader
from flights.database.dsn import url
from flights.database.loader import ClientDatabase
from flights.database.source import SourceMissingError
from flights.demo import cluster, databases, identity, page, ports, services, timing
from flights.demo.asking import Asker
from flights.demo.checking import Checker
from flights.demo.configuration import DEFAULT_PORT, Configuration
from flights.demo.databases import QueueLogins
from flights.demo.identity import People
from flights.demo.processes import Child, Register, wait_until
from flights.demo.rounds import Rounds
from flights.demo.terminal import Terminal
from flights.demo.trouble import DemoError


async def tell(config: Configuration, terminal: Terminal) -> bool:
    """Run the demo; whether every answer came and was right. Raises DemoError."""
    with _alone(config.folder):
        register = Register(config.folder / "children.json")
        register.clear(lambda text: terminal.line(f"  ! {text}"))
        port = _port(config)
        async with AsyncExitStack() as stack:
            queue_admin, client_admin = _servers(config, terminal, stack)
            terminal.heading("Databases")
            logins = await _queue(queue_admin, terminal)
            client = await _client(client_admin, terminal)

            terminal.heading("Processes")
            people = identity.people()
            built = page.assembled(config.folder, people)
            worker = services.start_worker(logins, client.reader_url, config.folder)
            stack.callback(worker.stop)
            edge = services.start_edge(logins, people, port, built, config.folder)
            stack.callback(edge.stop)
            register.write([worker, edge])
            address = f"http://{ports.HOST}:{port}"
            asker = Asker(address, "flights")
            stack.push_async_callback(asker.close)
            with terminal.step(f"worker (process {worker.pid}) claims {databases.QUEUE}"):
                await wait_until(lambda: services.worker_is_ready(worker), worker)
            with terminal.step(f"edge (process {edge.pid}) listens at {address}"):
                await wait_until(asker.is_ready, edge)

            faults = await _rounds(asker, people, logins, client, worker, terminal)
            if faults:
                terminal.heading(f"{len(faults)} answers did not come or were wrong:")
                for fault in faults:
                    terminal.line(f"  ✗ {fault}")
            else:
                terminal.heading("Every answer came and was right.")
            if not config.once:
                _invite(config, terminal, address, built, people, logins, client)
                with suppress(asyncio.CancelledError):
                    await _watch([worker, edge])
                terminal.settle("\nStopping.")
        register.forget()
    return not faults


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One demo at a time in a folder. Raises DemoError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / "lock").open("w", encoding="ascii")
    except OSError as error:
        raise DemoError(
            f"{folder} cannot be used: {error.strerror}; set DEMO_DIR to a folder of yours"
        ) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DemoError(
                f"a demo already runs in {folder}: stop it with Ctrl-C, or set DEMO_DIR"
            ) from None
        yield


def _port(config: Configuration) -> int:
    """The edge's port: the one that was set, which must be free, or 8811 or the next."""
    if config.port is None:
        return ports.first_free(DEFAULT_PORT)
    ports.require_free(config.port, "DEMO_PORT")
    return config.port


def _servers(config: Configuration, terminal: Terminal, stack: AsyncExitStack) -> tuple[str, str]:
    """Administrators' connection strings of the queue database and of the client's server."""
    terminal.heading("PostgreSQL")
    if config.queue_url:
        terminal.line("  ✓ yours, as PLANE_QUEUE_URL says")
        beside = url(config.queue_url, dbname="postgres")
        return config.queue_url, config.client_admin_url or beside
    server = cluster.prepared(config.folder, lambda text: terminal.line(f"  ! {text}"))
    words = "started" if server.data.exists() else "made and started"
    with terminal.step(f"our own, {words} in {server.home}") as step:
        admin = server.start(config.server_port, lambda text: terminal.settle(f"  ! {text}"))
        stack.callback(server.stop)
        step.outcome(f"at {ports.HOST}:{psycopg.conninfo.conninfo_to_dict(admin)['port']}")
    return url(admin, dbname=databases.QUEUE_DATABASE), config.client_admin_url or admin


async def _queue(admin: str, terminal: Terminal) -> QueueLogins:
    name = psycopg.conninfo.conninfo_to_dict(admin)["dbname"]
    with terminal.step(f"queue database {name}: roles, schemas, functions") as step:
        await databases.create_queue_database(admin)
        step.outcome(await databases.migrate(admin))
        return await databases.open_queue(admin)


async def _client(admin: str, terminal: Terminal) -> ClientDatabase:
    with terminal.step(f"client database {loader.DATABASE}: 336,776 flights of 2013") as step:
        try:
            client = await loader.ensure(
                admin,
                password=secrets.token_urlsafe(24),
                report=lambda what, part: step.at(part, what),
            )
        except SourceMissingError as error:
            raise DemoError(str(error)) from error
        except psycopg.Error as error:
            reason = databases.first_line(error)
            raise DemoError(f"the client database cannot be loaded: {reason}") from error
        step.outcome("loaded" if client.loaded else "there already")
        return client


async def _rounds(
    asker: Asker,
    people: People,
    logins: QueueLogins,
    client: ClientDatabase,
    worker: Child,
    terminal: Terminal,
) -> list[str]:
    """All questions; what was wrong with the answers."""
    async with await AsyncConnection.connect(client.admin_url, autocommit=True) as straight:
        rounds = Rounds(asker, Checker(straight), people, terminal, faults=[])
        try:
            terminal.heading("Questions, each answer compared with the client database itself")
            await rounds.one_by_one()
            terminal.heading("Eight panels of the page, at the same moment")
            await rounds.board()
            terminal.heading("Exports, downloaded and compared byte by byte")
            await rounds.exports()
            terminal.heading("Many at once")
            await rounds.together()
            await rounds.stranger(identity.people().ada)
            terminal.heading("Timing")
            with terminal.step("drill-downs, one after another") as step:
                light = await rounds.light(step.at)
            with terminal.step("aggregations, one after another") as step:
                heavy = await rounds.heavy(step.at)
            with terminal.step("answers from the cache") as step:
                cached = await rounds.cached(step.at)
        except httpx2.HTTPError as error:
            worker.require_alive()
            raise DemoError(f"the edge does not answer ({type(error).__name__} {error})") from error
    series = timing.Series(
        light=light,
        heavy=heavy,
        cached=cached,
        starts=services.handler_starts(worker),
        skew=await databases.clock_skew(logins.admin),
    )
    terminal.line()
    for line in timing.rendered(timing.table(series)):
        terminal.line(line)
    return rounds.faults


def _invite(
    config: Configuration,
    terminal: Terminal,
    address: str,
    built: Path | None,
    people: People,
    logins: QueueLogins,
    client: ClientDatabase,
) -> None:
    """What to try now."""
    if built:
        terminal.line(f"\nThe page: {address}/")
    else:
        terminal.line("\nThe page was not built (that takes Node 20 or newer); all else is here.")
    terminal.line(
        f"""
Ask as {people.ada.name}, with curl:

  TOKEN={people.ada.token}
  curl -s {address}/api/flights/q -H "Authorization: Bearer $TOKEN" \\
    -H 'Content-Type: application/json' -d '{{"operation": "delays_by_carrier", "params": {{}}}}'
  curl -N {address}<the streamUrl of that answer>"""
    )
    if not config.queue_url:
        terminal.line(
            f"""
Look into the databases, with psql:

  the queue   {logins.admin}
  the client  {client.reader_url}"""
        )
    terminal.line("\nCtrl-C stops everything.")


async def _watch(children: list[Child]) -> None:
    """Until we are stopped. Raises DemoError when a child ends."""
    while True:
        for child in children:
            child.require_alive()
        await asyncio.sleep(0.5)
