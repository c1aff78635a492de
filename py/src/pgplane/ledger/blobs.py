"""Blobs: payloads too large for a result, written and read in pieces of up to 1 MiB."""

from psycopg.rows import args_row

from pgplane.ledger.calls import Connection, rows, value
from pgplane.ledger.records import BlobInfo

_blob_row = args_row(BlobInfo)


async def put_blob(
    connection: Connection,
    job_id: int,
    attempt: int,
    content_type: str,
    filename: str | None,
    data: bytes,
) -> int:
    """Begin a blob of a held job with its first bytes; its number, for the result to name.

    Raises Conflict: the attempt no longer holds the job.
    """
    number: int = await value(
        connection,
        "select plane.put_blob(p_job_id => %s, p_attempt => %s, p_content_type => %s, p_filename"
        " => %s, p_data => %b)",
        (job_id, attempt, content_type, filename, data),
    )
    return number


async def append_blob(
    connection: Connection, job_id: int, attempt: int, blob: int, data: bytes
) -> int:
    """Go on with a blob; its size then. Who does not hear the answer begins the blob anew.

    Raises Conflict: the attempt no longer holds the job.
    """
    size: int = await value(
        connection,
        "select plane.append_blob(p_job_id => %s, p_attempt => %s, p_blob => %s, p_data => %b)",
        (job_id, attempt, blob, data),
    )
    return size


async def blob_info(
    connection: Connection, queue: str, job_id: int, blob: int, scope_key: str
) -> BlobInfo:
    """What there is to know of a blob of a done job. Raises NotFound, Gone: it has expired."""
    (info,) = await rows(
        connection,
        _blob_row,
        "select content_type, filename, size, etag, created_at, expires_at from plane.blob_info("
        "p_queue => %s, p_job_id => %s, p_blob => %s, p_scope_key => %s)",
        (queue, job_id, blob, scope_key),
    )
    return info


async def read_blob(
    connection: Connection,
    queue: str,
    job_id: int,
    blob: int,
    scope_key: str,
    start: int,
    length: int,
) -> bytes:
    """Up to `length` bytes (1 to 1 MiB) from offset `start`; none at the end and beyond.

    Raises NotFound, Gone: it has expired.
    """
    data: bytes = await value(
        connection,
        "select plane.read_blob(p_queue => %s, p_job_id => %s, p_blob => %s, p_scope_key => %s,"
        " p_from => %s, p_length => %s)",
        (queue, job_id, blob, scope_key, start, length),
    )
    return data
