"""Fixtures of the worker's tests."""

from collections.abc import Iterator

import psycopg
import pytest

from .onlooker import Ledger, prepare


@pytest.fixture
def ledger(queue_db: str) -> Iterator[Ledger]:
    with psycopg.connect(queue_db, autocommit=True) as connection:
        prepare(connection)
        yield Ledger(connection)
