"""Whatever is killed, whenever: no acknowledged job is lost, no acknowledged answer undone."""

import random
from collections.abc import Callable

import psycopg
import pytest

from ..support.postgres import Server
from .account import drain, set_clock_ahead
from .crowd import Crowd
from .hands import QUEUE


def make_queue(url: str) -> None:
    """Its leases outlive the test, unless the ledger's clock is moved."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "select plane.create_queue(%s, p_lease => '1 day', p_max_dequeues => 3)", (QUEUE,)
        )


def terminate_a_backend(url: str, chance: random.Random) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        pids = connection.execute("select pid from pg_stat_activity where usename = 'client'")
        found = sorted(pid for (pid,) in pids)
        if found:
            connection.execute("select pg_terminate_backend(%s)", (chance.choice(found),))


def suffer(server: Server, url: str, client_url: str, each: int, seed: int) -> str:
    """A crowd at work, while so many faults of each kind befall it at random points.

    Returns what came of it, in a line.
    """
    make_queue(url)
    chance = random.Random(seed)
    faults = ["backend", "client", "server"] * each
    chance.shuffle(faults)
    with Crowd(client_url, seed) as crowd:
        for fault in faults:
            crowd.work()
            if fault == "backend":
                terminate_a_backend(url, chance)
            elif fault == "client":
                crowd.kill_one()
            else:
                server.crash()
        crowd.work()
        crowd.stop()
    set_clock_ahead(url, "2 days")
    with psycopg.connect(url, autocommit=True) as connection:
        drain([connection], [QUEUE])
    account = crowd.account
    assert account.completed
    account.settle(url)
    return (
        f"crashes, seed {seed}: {len(faults)} faults, {len(account.enqueued)} jobs"
        f" and {len(account.completed)} completions acknowledged"
    )


def test_nothing_acknowledged_is_lost(
    own_server: Server, own_db: str, as_client: str, tell: Callable[[str], None]
) -> None:
    tell(suffer(own_server, own_db, as_client, each=3, seed=2030))


@pytest.mark.long
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("seed", range(5))
def test_nothing_acknowledged_is_lost_in_the_long_run(
    own_server: Server, own_db: str, as_client: str, tell: Callable[[str], None], seed: int
) -> None:
    tell(suffer(own_server, own_db, as_client, each=20, seed=seed))
