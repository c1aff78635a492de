"""Blobs: what a result names and does not hold, as a download."""

import re
from contextlib import ExitStack

from starlette.requests import Request
from starlette.responses import Response

from pgplane.edge.access.tickets import BLOB
from pgplane.edge.blobs.downloads import Download, first_piece, part_headers
from pgplane.edge.blobs.ranges import wanted
from pgplane.edge.blobs.reading import no_such_blob
from pgplane.edge.edge import Edge
from pgplane.edge.problems import Problem

MAX_NUMBER = 2**31 - 1
_NUMBER = re.compile(r"[0-9]{1,10}")


async def blob(request: Request) -> Response:
    """GET or HEAD a blob, all of it or a range."""
    edge: Edge = request.app.state.edge
    visitor = await edge.access.of(request, BLOB)
    number = _number(request.path_params["blob"])
    with ExitStack() as held:
        place = held.enter_context(edge.admission.download(visitor.name))
        found = await edge.blobs.find(visitor, number)
        size = found.info.size
        want = wanted(request.headers, request.method, size, found.etag)
        if want.status == 416:
            raise Problem(
                416,
                "RANGE_NOT_SATISFIABLE",
                f"the blob has {size} bytes, and none of those that are asked for",
                {"Content-Range": f"bytes */{size}", "Accept-Ranges": "bytes"},
            )
        if want.status == 304:
            known = {name: found.headers()[name] for name in ("ETag", "Cache-Control")}
            return Response(status_code=304, headers=known)
        if request.method == "HEAD":
            return Response(headers=part_headers(found, want))
        first = await first_piece(edge.blobs, found, want)
        response = Download(edge.blobs, found, want, first, place.close)
        held.pop_all()
        return response


def _number(digits: str) -> int:
    if not _NUMBER.fullmatch(digits) or int(digits) > MAX_NUMBER:
        raise no_such_blob()
    return int(digits)
