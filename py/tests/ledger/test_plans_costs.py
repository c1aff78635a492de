"""What the calls of the hot path touch, on ledgers of any size and whatever the planner believes.

Pages, not time: a figure is the same on any machine. Who makes a call cheaper lowers its budget.
"""

from dataclasses import dataclass

import psycopg
import pytest

from ..support.costs import Figures, measure, quiet_ledger
from ..support.explain import faults, nodes
from ..support.ledgers import LARGE, fill
from ..support.postgres import Server

# A row is two pages where it is read (its index and itself), and two to four where it is written
# (itself, its indexes); each level that an index grows by is one more.
BUDGETS: dict[str, tuple[int, int]] = {
    # call: pages on an empty ledger, on a large one
    #
    # queue 2, job 3, ready 2 or 3; is a worker asleep? 2
    "enqueue": (10, 12),
    # the same; live_key: 1 or 2 to look it up, 4 or 5 to take it
    "enqueue keyed": (15, 20),
    # queue 2, live_key 2, its job's outcome 2, lease 1 and job 3
    "coalesce": (10, 13),
    # enqueue without ready and worker: line 5, waiting 4
    "enqueue serial": (16, 18),
    # enqueue without ready and worker: due 3 or 4
    "schedule": (10, 12),
    # enqueue keyed; the operation 2
    "submit_request": (18, 22),
    # coalesce; the operation 2, the live key again 5, the job's lock 4; the note: 1 or 2 to look it
    # up, the job again 4, itself 5 or more
    "submit_request, joining": (32, 39),
    # queue 2, the job 3 and its lock 4, the note 2 to look it up and 7 to write it
    "register_waiter": (18, 20),
    # queue 2, the job and its locks 8, its places 4, the note 3 to remove it, 4 to look for others
    "leave_job": (25, 29),
    # queue 1, the job and the four places 8, what stands before it in ready, up to 1000 rows
    "get_job pending": (20, 42),
    "get_job done": (9, 10),
    # queue 2, two lanes of ready 4, its lock 1 and deletion 3, job 3, lease 4
    "claim_one": (17, 21),
    # at most ten times a second: leases 2, due 1, lines 2; the sleeping worker 2
    "claim_one, looking at time": (26, 30),
    # once a second: the least position of each lane 5, pg_locks 2
    "claim_one, moving its floor": (34, 42),
    "claim_one, looking at all": (34, 47),
    # per job: ready 2 to read and lock and 2 to delete, job 3, lease 4
    "claim(100)": (1130, 1290),
    # worker 7, then lease: 2 to find, 1 to lock, 2 to find again and 2 to write; queue 2
    "renew_leases": (16, 16),
    "renew_leases(100)": (1310, 1310),
    # lease 4, queue 2, outcome 3, waiter 2
    "complete_job": (11, 12),
    # per job: lease 2 to find and 1 to delete, outcome 3, waiter 2
    "complete_jobs(100)": (1060, 1060),
    # lease 4, attempt 2, due 3
    "fail_job": (10, 12),
    # lease 4, attempt 2, ready 4, queue 2 and worker 2
    "release_job": (14, 16),
    # lease 2, progress 3 to write, 2 to find the one before and 2 to remove it, queue 2
    "report_progress": (12, 12),
    # per job: job 3, ready 2 or 3
    "enqueue_many(100)": (630, 730),
    # each queue: leases 1 or 2, due 2, lines 2; waiters 1
    "sweep": (8, 10),
}

SIZES = [
    pytest.param(10, id="a tenth"),
    pytest.param(1, id="whole", marks=[pytest.mark.long, pytest.mark.timeout(900)]),
]


@dataclass(frozen=True)
class Ledger:
    """A ledger's figures, and how many levels its indexes have."""

    figures: Figures
    levels: dict[str, int]

    def levels_of(self, *tables: str) -> int:
        """Levels of all indexes of these tables."""
        return sum(n for name, n in self.levels.items() if name.startswith(tables))


@pytest.fixture(scope="module")
def empty(quiet: Server) -> Ledger:
    """A ledger whose tables are known to be empty."""
    return figures_of(quiet_ledger(quiet))


@pytest.fixture(scope="module", params=SIZES)
def large(quiet: Server, request: pytest.FixtureRequest) -> dict[str, Ledger]:
    """A large ledger: its live tables are believed to be empty, then known to be full."""
    url = quiet_ledger(quiet)
    fill(url, LARGE.part(request.param))
    with psycopg.connect(url, autocommit=True) as connection:
        broken = "select problem, says from plane.health() where kind = 'broken'"
        assert connection.execute(broken).fetchall() == []
    believed_empty = figures_of(url, analyze=False)
    return {"believed empty": believed_empty, "known": figures_of(url)}


def figures_of(url: str, *, analyze: bool = True) -> Ledger:
    with psycopg.connect(url, autocommit=True) as connection:
        if analyze:
            connection.execute("vacuum analyze")
        figures = measure(url)
        levels = connection.execute(
            """
            select c.relname, m.level
            from pg_class c
            cross join lateral public.bt_metap('plane.' || c.relname) as m
            where c.relnamespace = 'plane'::regnamespace and c.relkind = 'i'
            """
        )
        return Ledger(figures, dict(levels.fetchall()))


def test_every_call_that_is_measured_has_a_budget(empty: Ledger) -> None:
    assert set(empty.figures.seen) == set(BUDGETS)


@pytest.mark.parametrize("call", BUDGETS)
def test_a_call_on_an_empty_ledger_keeps_to_its_budget(empty: Ledger, call: str) -> None:
    assert empty.figures.pages(call) <= BUDGETS[call][0], empty.figures.parts(call)


@pytest.mark.parametrize("call", BUDGETS)
@pytest.mark.parametrize("statistics", ["believed empty", "known"])
def test_a_call_on_a_large_ledger_keeps_to_its_budget(
    large: dict[str, Ledger], call: str, statistics: str
) -> None:
    figures = large[statistics].figures
    assert figures.pages(call) <= BUDGETS[call][1], figures.parts(call)


@pytest.mark.parametrize("call", ["claim_one", "claim(100)"])
def test_a_claim_hardly_notices_how_large_the_ledger_is(
    empty: Ledger, large: dict[str, Ledger], call: str
) -> None:
    claimed = ("ready", "job", "lease")
    for ledger in large.values():
        added = ledger.levels_of(*claimed) - empty.levels_of(*claimed)
        allowed = 1.2 * empty.figures.pages(call) + added
        assert ledger.figures.pages(call) <= allowed, ledger.figures.parts(call)


def test_every_plan_goes_by_index_and_sorts_nothing(
    empty: Ledger, large: dict[str, Ledger]
) -> None:
    for ledger in (empty, *large.values()):
        found = {
            (call.partition(",")[0].partition("(")[0], fault)
            for call, statement in ledger.figures.statements()
            for fault in faults(statement)
        }
        assert found == set()


def test_the_scan_floor_is_found_in_the_index_alone(large: dict[str, Ledger]) -> None:
    for ledger in large.values():
        looked = [
            {node["Node Type"] for node in nodes(statement.plan)}
            for call, statement in ledger.figures.statements()
            if call == "claim_one, moving its floor" and statement.text.startswith("select r.pos")
        ]
        assert looked
        assert all(kinds == {"Limit", "Index Only Scan"} for kinds in looked)
