"""Fixtures: who follows streams by the hundred."""

from collections.abc import AsyncIterator

import pytest

from ..support.crowd import Crowd, gathered


@pytest.fixture
async def crowd() -> AsyncIterator[Crowd]:
    """A crowd without clients yet."""
    async with gathered() as opened:
        yield opened
