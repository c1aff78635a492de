"""Fixtures: a server on which nothing happens but what the test does, so that costs can be told."""

from collections.abc import Iterator

import pytest

from ..support.postgres import Server


@pytest.fixture(scope="session")
def quiet() -> Iterator[Server]:
    """No autovacuum, no checkpoint in the middle of a test."""
    with Server(
        autovacuum="off", shared_buffers="256MB", max_wal_size="8GB", checkpoint_timeout="1h"
    ) as running:
        yield running
