"""Blobs as tests write them: by SQL, in a worker's place."""

from .edges import Plane

PIECE = 1024**2


def write(
    plane: Plane,
    job: tuple[int, int],
    data: bytes,
    content_type: str = "text/csv",
    filename: str | None = "flights.csv",
) -> int:
    """A blob of a claimed job; its number."""
    ((number,),) = plane.look(
        "select plane.put_blob(%s, %s, %s, %s, %s)", *job, content_type, filename, data[:PIECE]
    )
    for at in range(PIECE, len(data), PIECE):
        plane.look("select plane.append_blob(%s, %s, %s, %s)", *job, number, data[at : at + PIECE])
    assert isinstance(number, int)
    return number


def answer_with(plane: Plane, data: bytes, *named: str | None, surface: str = "flights") -> int:
    """Claim the oldest job and answer it with a blob; its number."""
    job = plane.claim(surface)
    number = write(plane, job, data, *named)  # type: ignore[arg-type]
    plane.complete(job, f'{{"blobRef": {{"blob": {number}}}}}')
    return number
