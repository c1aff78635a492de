"""Everything at once, for a while: sessions, snapshots, savepoints, lapses, long transactions."""

import random
from collections.abc import Callable, Iterator

import psycopg
import pytest

from ..support.postgres import Server
from .account import drain, set_clock_ahead
from .ground import Ground
from .mix import QUEUES
from .soak import Soaker

SESSIONS = 8


@pytest.fixture
def own_server() -> Iterator[Server]:
    """A server on which every session may have a prepared transaction."""
    with Server(max_prepared_transactions="20") as server:
        yield server


def make_queues(url: str) -> None:
    """Three queues with leases that run out while their holders dawdle, one for each `notify`."""
    with psycopg.connect(url, autocommit=True) as connection:
        for queue, notify in zip(QUEUES, ("always", "waiters", "never"), strict=True):
            connection.execute(
                "select plane.create_queue(%s, p_lease => '300 ms', p_backoff => '50 ms',"
                " p_backoff_factor => 2, p_max_dequeues => 4, p_max_depth => 3000, p_notify => %s)",
                (queue, notify),
            )
            connection.execute(
                """select plane.register_manifest(%s, '[{"name": "ask", "version": 1}]')""",
                (queue,),
            )


def soak(url: str, client_url: str, seconds: float, seed: int) -> Ground:
    """So many seconds of it, then everything that was told is looked at."""
    make_queues(url)
    ground = Ground(client_url, seconds)
    chance = random.Random(seed)
    soakers = [
        Soaker(ground, f"s{n}", chance.randrange(1_000_000), honest=n % 2 == 0)
        for n in range(SESSIONS)
    ]
    for soaker in soakers:
        soaker.start()
    for soaker in soakers:
        soaker.join()
    assert ground.errors == []
    # to retry a job that is poison just then is luck, in a short one
    assert ground.counts.keys() >= {call.__name__ for call in soakers[0].mix.calls} - {"retry"}
    # sessions that were left alone find all there is at once, the others after a while
    set_clock_ahead(url, "2 seconds")
    drain([soaker.connection for soaker in soakers if soaker.honest], QUEUES[:2])
    set_clock_ahead(url, "2 days")
    drain([soaker.connection for soaker in soakers if not soaker.honest], QUEUES[2:])
    for soaker in soakers:
        soaker.connection.close()
    ground.account.settle(url)
    return ground


def test_a_short_soak(own_db: str, as_client: str, tell: Callable[[str], None]) -> None:
    ground = soak(own_db, as_client, seconds=15, seed=7)
    tell(f"soak, {ground.counts.total()} calls: {dict(ground.counts)}")


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_a_long_soak(own_db: str, as_client: str, tell: Callable[[str], None]) -> None:
    ground = soak(own_db, as_client, seconds=600, seed=8)
    tell(f"soak, {ground.counts.total()} calls: {dict(ground.counts)}")
