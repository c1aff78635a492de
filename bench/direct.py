"""The floor of a question: its query, run at once by whoever is asked. No token, no job, no worker.

`python -m bench.direct`, with DIRECT_URL, the client database; its log names the port.
"""

import json
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import orjson
import uvicorn
from psycopg_pool import AsyncConnectionPool
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bench.sales import QUERY, SCOPE
from pgplane.client_database import rows_as_json
from pgplane.session import Connection, register_raw_json

POOL = 4
"""Connections to the client database: as many as a worker has."""


async def answer(request: Request) -> Response:
    """POST params; 200 with the rows."""
    params = orjson.loads(await request.body()) | {"scope": SCOPE}
    async with request.app.state.pool.connection() as connection:
        values = [params[name] for name in QUERY.names]
        rows = await rows_as_json(connection, QUERY.text, values)
    return Response(rows, media_type="application/json")


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    """The pool, for as long as the app runs."""

    async def configure(connection: Connection) -> None:
        register_raw_json(connection)

    async with AsyncConnectionPool(
        os.environ["DIRECT_URL"],
        kwargs={"autocommit": True},
        configure=configure,
        min_size=POOL,
        open=False,
    ) as app.state.pool:
        await app.state.pool.wait()
        yield


def main() -> None:
    """Serve until SIGTERM."""
    app = Starlette(routes=[Route("/", answer, methods=["POST"])], lifespan=lifespan)
    server = uvicorn.Server(uvicorn.Config(app, ws="none", log_config=None, access_log=False))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        started = {"event": "direct.started", "port": listening.getsockname()[1]}
        sys.stderr.write(json.dumps(started) + "\n")
        sys.stderr.flush()
        server.run(sockets=[listening])


if __name__ == "__main__":
    main()
